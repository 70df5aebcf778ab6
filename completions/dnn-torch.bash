# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash

# bash-completion renamed its functions in 2.12, and older ones are still in use.
_dnn_torch_program()
{
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset 2
    elif declare -F _command_offset >/dev/null; then
        _command_offset 2
    fi
}

# The lines "  --option VALUE  what it is: A, B or C" of a command's help.
_dnn_torch_options()
{
    "${COMP_WORDS[0]/#\~/$HOME}" "${COMP_WORDS[1]}" --help 2>/dev/null | grep '^  --'
}

# A, B and C.  Names of what the user has are in capitals there, and explanations in parentheses.
_dnn_torch_values()
{
    _dnn_torch_options | sed -n "s/^  $1 [A-Z].*: //p" | sed 's/([^)]*)//g; s/ or /, /' |
        tr ',' '\n' | sed -n 's/^ *\([a-z0-9]*\) *$/\1/p'
}

_dnn_torch_files()
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(
        shopt -s extglob
        compgen -d -- "$2"
        compgen -f -X "!*.@($1)" -- "$2"
    )
}

# "dnn-torch farm COMMAND --help" has lines "  -o OUT, --output OUT  what it is".
_dnn_torch_farm()
{
    local word=$1 command=${COMP_WORDS[2]} program=${COMP_WORDS[0]/#\~/$HOME}
    if [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(
            compgen -W 'plan run submit status show join verify --help' -- "$word"
        )
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$("$program" farm "$command" --help 2>/dev/null |
                sed -n 's/^  \(-[a-z][^-]*, \)\{0,1\}\(--[a-z-]*\).*/\2/p')" -- "$word"
        )
    elif [ "$command" = plan ]; then
        _dnn_torch_files '*' "$word"
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    fi
}

_dnn_torch()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(
            compgen -W 'run doctor devices inspect bench compare contract convert farm --help --version' -- "$word"
        )
        return
    fi
    # "--option=value" is three words.
    [ "$word" = = ] && word='' && before="$before="
    [ "$before" = = ] && before="${COMP_WORDS[COMP_CWORD - 2]}="
    case ${COMP_WORDS[1]} in
    run) _dnn_torch_program ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W '--help' -- "$word") ;;
    devices) mapfile -t COMPREPLY < <(compgen -W '--help --json' -- "$word") ;;
    farm) _dnn_torch_farm "$word" ;;
    inspect | bench | compare | contract | convert)
        before=${before%=}
        if [[ $before == --svg || $before == --html || $before == --png ]]; then
            _dnn_torch_files "${before#--}" "$word"
        elif [ "$before" = --reference ]; then
            _dnn_torch_files '*' "$word"
        elif [ "$before" = --models ]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
        elif _dnn_torch_options | grep -q -- "^  $before [A-Z]"; then
            mapfile -t COMPREPLY < <(compgen -W "$(_dnn_torch_values "$before")" -- "$word")
        elif [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(
                compgen -W "$(_dnn_torch_options | sed 's/^  \(--[a-z_]*\).*/\1/')" -- "$word"
            )
        elif [ "${COMP_WORDS[1]} $COMP_CWORD" = 'compare 2' ]; then
            _dnn_torch_files '*' "$word"
        else
            _dnn_torch_files 'pth|pt|ckpt|bin|safetensors' "$word"
        fi
        ;;
    esac
}

complete -F _dnn_torch dnn-torch
