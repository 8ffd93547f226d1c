# SPDX-License-Identifier: BSD-2-Clause
# bash completion for quorlock(1).

# The place of the verb's first word that is no option, in COMP_WORDS.
_quorlock_operand()
{
    local i=2

    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
            --server | --user | --password-file | --ttl | --wait | --timeout \
                | --conflict-exit-code | --command | --max-hold | --hold-min \
                | --on-lost | --kill-after | --retry-delay | --node-timeout \
                | --label | --nodes | --level | --lock-delay | --max-ttl \
                | --clock-slack | -S | -w | -E | -c)
                ((i += 2))
                ;;
            -n)
                [[ ${COMP_WORDS[1]} == dev ]] && ((i++))
                ((i++))
                ;;
            --)
                ((i++))
                break
                ;;
            -*)
                ((i++))
                ;;
            *)
                break
                ;;
        esac
    done
    echo "$i"
}

# The options of a verb.
_quorlock_options()
{
    local common="--quiet --help"
    local servers="--server --user --password-file --node-timeout --json"
    local locking="--verbose --level"
    local taking="--ttl --nonblock --wait --timeout --conflict-exit-code
        --retry-delay --label --lock-delay"

    case $1 in
        run)
            echo "$common $servers $locking $taking --command --max-hold
                --hold-min --on-lost --kill-after"
            ;;
        acquire) echo "$common $servers $locking $taking --env" ;;
        extend) echo "$common $servers $locking --ttl --lock-delay" ;;
        release | status) echo "$common $servers $locking" ;;
        init)
            echo "$common $servers --max-ttl --clock-slack --again --yes"
            ;;
        members | force-release) echo "$common $servers --yes" ;;
        check | list) echo "$common $servers" ;;
        dev) echo "$common --verbose --nodes" ;;
    esac
}

_quorlock()
{
    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local operand

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "run acquire extend release status
            list force-release init members check dev --help --version" -- "$word")
        return
    fi
    operand=$(_quorlock_operand)
    if ((COMP_CWORD < operand)); then
        case $previous in
            --password-file)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                ;;
            --on-lost)
                mapfile -t COMPREPLY < <(compgen -W "term kill ignore" \
                    -- "$word")
                ;;
            --level)
                mapfile -t COMPREPLY < <(compgen -W "plain guarded strict" \
                    -- "$word")
                ;;
        esac
    elif ((COMP_CWORD == operand)) && [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_quorlock_options "$verb")" \
            -- "$word")
    elif [[ $verb == run ]] && ((COMP_CWORD > operand)); then
        # The command, and then whatever it completes to.
        [[ ${COMP_WORDS[operand + 1]} == -- ]] && ((operand++))
        _quorlock_command $((operand + 1))
    elif [[ $verb == dev ]]; then
        _quorlock_command "$operand"
    elif [[ $verb == members ]] && ((COMP_CWORD == operand)); then
        mapfile -t COMPREPLY < <(compgen -W "add remove settle" -- "$word")
    fi
}

# Completes from the word `$1` on as a command of its own.
_quorlock_command()
{
    local word=${COMP_WORDS[COMP_CWORD]}

    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _quorlock quorlock
