// SPDX-License-Identifier: BSD-2-Clause

// redsync behind the interface of ../clients.py: try NAME, wait NAME.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	client "github.com/gomodule/redigo/redis"
)

const ttl = 60 * time.Second

func pools() []redis.Pool {
	var list []redis.Pool
	for _, server := range strings.Split(os.Getenv("QUORLOCK_SERVERS"), ",") {
		address := server
		list = append(list, redigo.NewPool(&client.Pool{
			Dial: func() (client.Conn, error) {
				return client.Dial("tcp", address)
			},
		}))
	}
	return list
}

func run(verb, name string) int {
	tries := 1
	if verb == "wait" {
		tries = 1 << 30
	}
	mutex := redsync.New(pools()...).NewMutex(name, redsync.WithExpiry(ttl),
		redsync.WithTries(tries),
		redsync.WithRetryDelay(100*time.Millisecond))
	if err := mutex.Lock(); err != nil {
		var taken *redsync.ErrTaken
		if errors.Is(err, redsync.ErrFailed) || errors.As(err, &taken) {
			fmt.Println("busy")
			return 1
		}
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	if ok, err := mutex.Unlock(); !ok || err != nil {
		fmt.Fprintln(os.Stderr, "unlock:", ok, err)
		return 2
	}
	fmt.Println("released")
	return 0
}

func main() {
	os.Exit(run(os.Args[1], os.Args[2]))
}
