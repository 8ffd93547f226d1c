# SPDX-License-Identifier: BSD-2-Clause
# fish completion for quorlock(1).

set -l locking run acquire extend release status
set -l remote $locking list force-release init members check
set -l verbs $remote dev
set -l taking run acquire

complete -c quorlock -f
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a run \
    -d 'Run a command while holding a lock'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a acquire \
    -d 'Take a lock and print its token'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a extend \
    -d 'Let a lock last --ttl from now'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a release \
    -d 'Give a lock back'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a status \
    -d 'Show who holds a lock, node by node'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a list \
    -d 'Show all locks'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" \
    -a force-release -d 'Take a lock away from its holder'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a init \
    -d 'Make the servers a group'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a members \
    -d 'Show the group, or change it by one server'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a check \
    -d 'Look for what makes locks unsafe'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -a dev \
    -d 'Run a command, or a shell, with private servers'
complete -c quorlock -n "not __fish_seen_subcommand_from $verbs" -l version \
    -d 'Show the version'

complete -c quorlock -s q -l quiet -d 'Say nothing but errors of usage'
complete -c quorlock -n "__fish_seen_subcommand_from $locking dev" \
    -s v -l verbose -d 'Say what happens'
complete -c quorlock -s h -l help -d 'Show the options'

set -l seen "__fish_seen_subcommand_from $remote"
complete -c quorlock -n $seen -s S -l server -x -d 'One master, or several'
complete -c quorlock -n $seen -l user -x -d 'Log in as this user'
complete -c quorlock -n $seen -l password-file -r -F \
    -d 'Read the password from a file'
complete -c quorlock -n $seen -l node-timeout -x \
    -d 'How long one node is waited for'
complete -c quorlock -n $seen -l json -d 'Report in JSON'

complete -c quorlock -n "__fish_seen_subcommand_from $locking" -l level \
    -x -a 'plain guarded strict' -d 'How much is done for safety'
complete -c quorlock \
    -n "__fish_seen_subcommand_from force-release init members" -s y -l yes \
    -d 'Do not ask'

set -l seen "__fish_seen_subcommand_from init"
complete -c quorlock -n $seen -l max-ttl -x -d 'The longest ttl of a lock'
complete -c quorlock -n $seen -l clock-slack -x \
    -d 'How far clocks of nodes may be apart'
complete -c quorlock -n $seen -l again -d 'Begin anew'

complete -c quorlock -n "__fish_seen_subcommand_from members" \
    -a 'add remove settle'
complete -c quorlock -n "__fish_seen_subcommand_from acquire" -l env \
    -d 'Print variables for a shell'

set -l seen "__fish_seen_subcommand_from $taking"
complete -c quorlock -n "$seen extend" -l lock-delay -x \
    -d 'Stay locked so much longer if we end'
complete -c quorlock -n "$seen extend" -l ttl -x \
    -d 'How long the lock lasts without renewal'
complete -c quorlock -n $seen -s n -l nonblock -d 'Do not wait'
complete -c quorlock -n $seen -s w -l wait -x -d 'Wait at most so long'
complete -c quorlock -n $seen -l timeout -x -d 'Wait at most so long'
complete -c quorlock -n $seen -s E -l conflict-exit-code -x \
    -d 'Exit status when it is held by another'
complete -c quorlock -n $seen -l retry-delay -x \
    -d 'Wait up to so long between attempts'
complete -c quorlock -n $seen -l label -x -d 'Who we are'

set -l seen "__fish_seen_subcommand_from run"
complete -c quorlock -n $seen -s c -l command -x -d 'Run a string with a shell'
complete -c quorlock -n $seen -l max-hold -x -d 'Never hold it longer'
complete -c quorlock -n $seen -l hold-min -x -d 'Hold it at least so long'
complete -c quorlock -n $seen -l on-lost -x -a 'term kill ignore' \
    -d 'What to do when it is lost'
complete -c quorlock -n $seen -l kill-after -x -d 'Time between TERM and KILL'

# The command behind the name.
complete -c quorlock -n $seen -a '(__fish_complete_subcommand)'

set -l seen "__fish_seen_subcommand_from dev"
complete -c quorlock -n $seen -s n -l nodes -x -d 'How many servers'
complete -c quorlock -n $seen -a '(__fish_complete_subcommand)'
