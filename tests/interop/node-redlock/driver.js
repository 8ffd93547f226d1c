// SPDX-License-Identifier: BSD-2-Clause
// node-redlock behind the interface of ../clients.py: try NAME, wait NAME.
"use strict";

const Redis = require("ioredis");
const Redlock = require("redlock").default;

const TTL_MS = 60000;

const untilStdinEnds = () =>
  new Promise((resolve) => {
    process.stdin.on("end", resolve);
    process.stdin.resume();
  });

async function main(verb, name) {
  const clients = process.env.QUORLOCK_SERVERS.split(",").map((server) => {
    const [host, port] = server.split(":");
    return new Redis(Number(port), host);
  });
  const redlock = new Redlock(clients, {
    retryCount: verb === "wait" ? -1 : 0,
    retryDelay: 100,
  });
  let lock;
  try {
    lock = await redlock.acquire([name], TTL_MS);
  } catch (error) {
    if (error.name !== "ExecutionError") throw error;
    console.log("busy");
    return 1;
  }
  console.log("held");
  await untilStdinEnds();
  await lock.release();
  console.log("released");
  return 0;
}

main(process.argv[2], process.argv[3]).then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(2);
  }
);
