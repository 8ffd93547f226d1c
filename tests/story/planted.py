#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plants known faults into a copy of the core, one at a time.

The stories must notice every one of them: this is what they are for.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import core_build  # noqa: E402

# What is wrong; the file; a piece of it that is there once; what it becomes.
FAULTS = [
    ("a minority is taken for a majority", "ballot.c",
     "if (yes >= ballot->quorum)", "if (yes + 1 >= ballot->quorum)"),
    ("failure is decided a vote too late", "ballot.c",
     "yes + asked < ballot->quorum", "yes + asked + 1 < ballot->quorum"),
    ("the drift is ignored", "validity.c",
     "ql_time_add(t0, ttl_ns - drift)", "ql_time_add(t0, ttl_ns)"),
    ("t0 is taken once, not for each attempt", "round.c",
     "    m->t0 = m->now;\n    m->round_until",
     "    if (m->attempt <= 1)\n        m->t0 = m->now;\n    m->round_until"),
    ("one token serves all attempts", "acquire.c",
     "    out->list[out->count++] = (struct ql_action){.kind = QL_DO_TOKEN};",
     "    if (m->attempt == 1)\n        out->list[out->count++] ="
     " (struct ql_action){.kind = QL_DO_TOKEN};"),
    ("validity is not looked at after the majority", "acquire.c",
     "state == QL_BALLOT_WON && m->now < until", "state == QL_BALLOT_WON"),
    ("no release after a failure", "round.c",
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);",
     "            if (m->state != QL_ST_CLEANING)\n"
     "                ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);"),
    ("no release after a cancellation", "step.c",
     "        ql_send_releases(m, out);\n", ""),
    ("release only where it was granted", "round.c",
     "if (m->peer[i].key != QL_KEY_NONE)",
     "if (m->peer[i].key == QL_KEY_OURS)"),
    ("a late refusal after the failure is not counted", "clean.c",
     "m->refused += vote == QL_VOTE_FOREIGN;", ""),
    ("no limit to the attempts", "clean.c",
     "(tries == 0 || m->attempt < tries)", "true"),
    ("no last attempt at the end of the wait", "clean.c",
     "    m->retry_at = ql_time_min(m->retry_at, m->wait_until);\n", ""),
    ("a pause that the tidying up has outlasted is not random", "clean.c",
     "        if (m->now >= m->retry_at && !m->second)\n"
     "            spread_retry(m);\n", ""),
    ("the last attempt is put off after a long tidying up", "clean.c",
     "ql_time_min(ql_time_add(m->now, part), m->wait_until)",
     "ql_time_add(m->now, part)"),
    ("a delay of nothing spins", "backoff.c",
     "ql_time_max(delay_ns, QL_NS_PER_MS)", "delay_ns"),
    ("a repair is counted as a vote", "extend.c",
     "    ql_cast(m, ev->node, usable ? ev->vote : QL_VOTE_FAILED);\n"
     "    decide(m, out);",
     "    ql_cast(m, ev->node, ev->vote == QL_VOTE_MISSING ? QL_VOTE_YES"
     " : ev->vote);\n    if (ev->vote == QL_VOTE_MISSING)\n"
     "        m->peer[ev->node].key = QL_KEY_MAYBE;\n    decide(m, out);"),
    ("a repair outlives the keys of the others", "extend.c",
     "ql_time_sub(ql_time_add(m->t0, m->ttl_ns), m->now)", "m->ttl_ns"),
    ("an extension is accepted after the own deadline", "hold.c",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m))",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m) &&"
     " m->errand != QL_ERRAND_EXTEND && m->errand != QL_ERRAND_RENEW)"),
    ("an extension counts from its answer", "extend.c",
     "ql_valid_until(m->t0, m->ttl_ns", "ql_valid_until(m->now, m->ttl_ns"),
    ("a shorter ttl shortens only when it is confirmed", "extend.c",
     "        m->valid_until = ql_time_min(m->valid_until,"
     " extended_until(m));\n", "        ;\n"),
    ("the cap is ignored at an extension", "extend.c",
     "    return ql_time_min(m->hold_until,\n"
     "                       ql_valid_until(m->t0, m->ttl_ns,"
     " m->rules->drift_ppm));",
     "    return ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm);"),
    ("the cap is ignored at the acquisition", "acquire.c",
     "m->hold_until, ql_valid_until(", "QL_NEVER, ql_valid_until("),
    ("a foreign majority is no loss", "extend.c",
     "return ql_count_keys(m, QL_KEY_NOT) >= ql_ballot_veto(&m->ballot);",
     "return false;"),
    ("the loss is not told early", "hold.c",
     "ql_time_sub(m->valid_until, m->terms->loss_notice_ns)",
     "m->valid_until"),
    ("the loss is not told at all", "hold.c",
     "    ql_tell(out, capped ? QL_OUT_LOST_CAPPED : QL_OUT_LOST);\n", ""),
    ("no renewal after one that failed", "extend.c",
     "        m->renew_at = renew_again_time(m);",
     "        m->renew_at = QL_NEVER;"),
    ("a server's word lengthens the validity", "inspect.c",
     "m->valid_until = ql_time_min(m->valid_until, until);",
     "m->valid_until = until;"),
    ("a failed release is told as done", "release.c",
     "finish(m, QL_OUT_UNSURE, out);", "finish(m, QL_OUT_RELEASED, out);"),
    ("the lock still counts as held while it is released", "hold.c",
     "if (m->state != QL_ST_HELD && m->state != QL_ST_LOST)\n"
     "        return 0;",
     "if (m->state == QL_ST_RELEASING)\n        return 1;"),
    ("late answers to an earlier acquisition count", "acquire.c",
     "    m->extend_round = 0; /* none yet: late answers to others are not"
     " ours */\n", ""),

    # Fencing tokens: the traps of the protocol, and some of our own.
    ("equal answers of a minority are a token", "fence.c",
     "        if (count >= m->rules->quorum)",
     "        if (count + 1 >= m->rules->quorum)"),
    ("a majority of unlike answers is a token", "acquire.c",
     "ql_fence_agreed(m) == 0) {", "false) {"),
    ("an acknowledged confirm counts, whatever the number is", "acquire.c",
     "    peer->fence = ev->fence;\n    ql_cast(m, ev->node, ev->vote);\n"
     "    decide(m, out);\n}",
     "    peer->fence = m->confirm;\n    ql_cast(m, ev->node, ev->vote);\n"
     "    decide(m, out);\n}"),
    ("a larger number is as good as the token", "fence.c",
     "m->peer[node].fence == fence", "m->peer[node].fence >= fence"),
    ("a smaller number counts although a larger one was sent", "fence.c",
     " &&\n           fence >= m->confirm;", ";"),
    ("a refused confirm is taken for done", "acquire.c",
     "    peer->fence = ev->fence;\n    ql_cast(m, ev->node, ev->vote);\n"
     "    decide(m, out);\n}",
     "    peer->fence = ev->vote == QL_VOTE_YES ? ev->fence : m->confirm;\n"
     "    ql_cast(m, ev->node, QL_VOTE_YES);\n    decide(m, out);\n}"),
    ("a confirm for an earlier attempt counts for this one", "step.c",
     "case QL_REQ_CONFIRM:\n        if (ev->round == m->acquire_round)",
     "case QL_REQ_CONFIRM:\n        if (true)"),
    ("an extension counts whoever has our key", "extend.c",
     "m->fence == 0 || ev->fence == m->fence;", "true;"),
    ("the token is read again at an extension", "extend.c",
     "    if (m->fence == 0)\n        m->fence = ql_fence_agreed(m);",
     "    m->fence = m->peer[0].fence;"),
    ("an adopted token is learnt from yeses that differ", "extend.c",
     "    if (!m->rules->fenced || state != QL_BALLOT_WON ||"
     " ql_fence_agreed(m) != 0)\n        return state;",
     "    return state;"),
    ("a node that repaired is counted", "extend.c",
     "    ql_cast(m, ev->node, usable ? ev->vote : QL_VOTE_FAILED);\n",
     "    ql_cast(m, ev->node, ev->repaired ? QL_VOTE_YES : ev->vote);\n"
     "    if (ev->repaired)\n        peer->fence = m->fence;\n"),
    ("a node that repaired is against us", "extend.c",
     "ev->vote == QL_VOTE_YES || ev->repaired", "ev->vote == QL_VOTE_YES"),
    ("the machine repairs what nodes repair themselves", "extend.c",
     "i < m->rules->nodes && !m->rules->fenced; i++", "i < m->rules->nodes;"
     " i++"),
    ("a confirm lengthens the round", "fence.c",
     "    m->confirm = largest(m);",
     "    m->confirm = largest(m);\n"
     "    m->round_until = m->now + m->rules->node_timeout_ns;"),
    ("the validity counts from the confirm", "fence.c",
     "    m->confirm = largest(m);",
     "    m->confirm = largest(m);\n    m->t0 = m->now;"),
    ("the clocks are reason enough to try for ever", "clean.c",
     "    return !m->second && count", "    return count"),
    ("the death of a holder is hidden by whoever came next", "fence.c",
     "m->peer[i].prev.holder == holder)", "true)"),
    ("a node that hides a death is believed", "fence.c",
     "if (prev->earlier[k] && ", "if (false && "),
    ("a node that may have repaired is not released", "extend.c",
     "            m->peer[i].key = QL_KEY_MAYBE;\n        ql_cast",
     "            m->peer[i].key = QL_KEY_NONE;\n        ql_cast"),
    ("a lease is forgotten with its key", "round.c",
     "    if (!m->rules->fenced)\n        return expiry;\n",
     "    return expiry;\n"),
]


def judge(build, name, text, old, new):
    """None if the fault was noticed, or what is wrong."""
    if text.count(old) != 1:
        return f"src/core/{name} has changed: mend this fault's text"
    try:
        build.change(name, text.replace(old, new))
    except SyntaxError as error:
        return f"does not compile:\n{error}"
    by = build.first_failure()
    return None if by else "not noticed by any story"


def main():
    tests = ["story/" + name for name in core_build.story_names()]
    failed = 0
    with core_build.CoreBuild(tests, random_runs=1000) as build:
        by = build.first_failure()
        if by:
            print(f"without any fault, {by} fails")
            return 1
        for what, name, old, new in FAULTS:
            wrong = judge(build, name, (core_build.CORE / name).read_text(),
                          old, new)
            failed += wrong is not None
            print(f"{'FAILED' if wrong else 'ok':6} {what}"
                  + (f": {wrong}" if wrong else ""), flush=True)
    print(f"{len(FAULTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
