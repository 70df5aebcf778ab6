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

_dnn_torch()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(
            compgen -W 'run doctor devices inspect bench contract convert --help --version' -- "$word"
        )
        return
    fi
    case ${COMP_WORDS[1]} in
    run) _dnn_torch_program ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W '--help' -- "$word") ;;
    devices) mapfile -t COMPREPLY < <(compgen -W '--help --json' -- "$word") ;;
    convert)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '--help --timeout --engine --isolate' -- "$word")
            return
        fi
        compopt -o filenames
        mapfile -t COMPREPLY < <(
            compgen -d -- "$word"
            compgen -f -X '!*.@(pth|pt|ckpt|bin|safetensors)' -- "$word"
        )
        ;;
    inspect | bench | contract)
        if [[ $word == -* ]]; then
            local options='--help --size --timeout --device --engine --input --output --allow --isolate'
            [ "${COMP_WORDS[1]}" = bench ] && options+=' --seconds --svg'
            [ "${COMP_WORDS[1]}" = contract ] || options+=' --json'
            [ "${COMP_WORDS[1]}" = bench ] || options+=' --range --order --mean --std'
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
            return
        fi
        compopt -o filenames
        mapfile -t COMPREPLY < <(
            compgen -d -- "$word"
            compgen -f -X '!*.@(pth|pt|ckpt|bin|safetensors)' -- "$word"
        )
        ;;
    esac
}

complete -F _dnn_torch dnn-torch
