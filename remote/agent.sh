# The agent for hosts without Python: docs/protocol.md in POSIX sh, with no other programs than those that coreutils with
# grep, sed and awk, and busybox, have both. It runs in dash, busybox ash and bash from 3.2.
#
# Its text is evaluated by `sh -c`, so it is in no file and no argument list. checkrunner sends it without the lines that
# begin with a comment.
#
#   main     waits for events on one FIFO, one line each: of the reader, the shells, the pumps, the finishers, the timers
#   reader   reads a request's header when main has told it to, and passes it on; main reads the sections itself
#   keeper   one a session: starts its shell, holds the state that the shell says of itself after each command, and
#            gives it to the next shell when that one has ended
#   shell    a session's shell: bash where there is one, else sh. It reads the commands from a FIFO of its own, as text
#            between quotes; they are in no file and no argument list
#   pump     one an output: copies it to a file up to its limit, and after that to nowhere
#   finisher counts, asks the probes, and writes the result
#   ticker   says every second that time passes; when main is gone, it clears up
#
# Signals are sent by `_signal` alone, see there.
#
# Variables of ours begin with an underscore. What belongs to a run has its id behind it (_x12), what belongs to a session
# its number (_sx1).

_PIPE_BUF=4000
_nl='
'
_cr=$(printf '\r.')
_cr=${_cr%.}

# --- text -------------------------------------------------------------------------------------------------------------

# _quote TEXT: _q is TEXT as one word of a shell.
_quote() {
    _q=
    _s=$1
    if [ "${#_s}" -gt 2000 ]; then
        _q=$(printf '%s.' "$_s" | sed "s/'/'\\\\''/g")
        _q="'${_q%.}'"
        return
    fi
    while :; do
        case $_s in
        *\'*)
            _q="$_q${_s%%\'*}'\\''"
            _s=${_s#*\'}
            ;;
        *)
            _q="'$_q$_s'"
            return
            ;;
        esac
    done
}

# _json TEXT: _j is TEXT as a string of JSON. What is not UTF-8 becomes U+FFFD.
_json() {
    case $1 in
    *[!\ -~]*)
        _j=\"$(printf %s "$1" | od -An -v -tu1 | awk '
            function put(c) {
                if (c > 65535) { c -= 65536; put(55296 + int(c / 1024)); put(56320 + c % 1024); return }
                printf "\\u%04x", c
            }
            function bad() { if (need) put(65533); need = 0 }
            {
                for (i = 1; i <= NF; i++) {
                    b = $i + 0
                    if (need && b >= low && b <= high) {
                        code = code * 64 + b % 64; low = 128; high = 191
                        if (--need == 0) put(code)
                        continue
                    }
                    bad()
                    low = 128; high = 191
                    if (b < 128) {
                        if (b < 32 || b > 126 || b == 34 || b == 92) put(b); else printf "%c", b
                    } else if (b >= 194 && b < 224) { need = 1; code = b % 32 }
                    else if (b >= 224 && b < 240) {
                        need = 2; code = b % 16
                        if (b == 224) low = 160
                        if (b == 237) high = 159
                    } else if (b >= 240 && b < 245) {
                        need = 3; code = b % 8
                        if (b == 240) low = 144
                        if (b == 244) high = 143
                    } else put(65533)
                }
            }
            END { bad() }')\"
        ;;
    *[\"\\]*) _j=\"$(printf '%s\n' "$1" | sed 's/["\\]/\\&/g')\" ;;
    *) _j=\"$1\" ;;
    esac
}

# _words WORD...: _j is a list of JSON of the arguments, which need no escapes.
_words() {
    _j=
    for _s; do _j="$_j${_j:+,}\"$_s\""; done
    _j="[$_j]"
}

# --- time: hundredths of a second, from the kernel where it tells ------------------------------------------------------

_now() {
    if read -r _t _s 2>/dev/null </proc/uptime; then
        _s=${_t#*.}
        _t=${_t%.*}
    else
        _t=$(date +%s)
        _s=00
    fi
    _t=$((_t * 100 + ${_s#0}))
}

# _point HUNDREDTHS: _p is the number with its point.
_point() {
    _p=$(($1 % 100))
    [ "$_p" -gt 9 ] || _p=0$_p
    _p=$(($1 / 100)).$_p
}

# _alarm HUNDREDTHS EVENT: an event after that time.
_alarm() {
    if [ -n "$_fractions" ]; then
        _point "$1"
    else
        _p=$((($1 + 99) / 100))
    fi
    (
        exec </dev/null >/dev/null 2>&1 4>&- 5>&-
        (exec 3>&-; sleep "$_p")
        echo "$2" >&3
    ) &
}

# --- answers ----------------------------------------------------------------------------------------------------------

_refuse() {
    _json "$3"
    printf '{"t":"error","id":%s,"kind":"%s","message":%s}\n' "$1" "$2" "$_j"
}

_fatal() {
    _refuse 0 "$1" "$2"
    _finish
}

# --- requests ---------------------------------------------------------------------------------------------------------

# _take LENGTH: _body is that many bytes of the input. What is shorter held a NUL, or is the last there is.
_take() {
    if [ "$1" = 0 ]; then
        _body=
    elif [ -n "$_fullblock" ]; then
        _body=$(dd bs="$1" count=1 iflag=fullblock <&5 2>/dev/null; echo .)
    else
        _body=$(dd bs=1 count="$1" <&5 2>/dev/null; echo .)
    fi
    _body=${_body%.}
}

_is_number() {
    case $1 in
    '' | *[!0-9]* | ????????????????*) return 1 ;;
    esac
}

# _request HEADER: read what belongs to it, and serve it.
_request() {
    set -f
    # shellcheck disable=SC2086
    set -- $1
    set +f
    _verb=${1-}
    _id=${2-}
    if ! _is_number "$_id" || [ $# -lt 2 ]; then
        [ -n "$_hello" ] || _fatal lost_input "the first words are no hello"
        _fatal bad_request "a header is VERB ID words"
    fi
    shift 2
    if [ -z "$_hello" ] && [ "$_verb" != hello ]; then
        _fatal lost_input "the first words are no hello"
    fi
    _wrong=
    _unknown=
    _begin_"$_verb" 2>/dev/null || _wrong="unknown verb $_verb"
    for _word; do
        _name=${_word%%[=:]*}
        case $_word in
        "$_name"=*) _key "$_name" "${_word#*=}" ;;
        "$_name":*)
            _is_number "${_word#*:}" && [ "${_word#*:}" -le 33554432 ] ||
                _fatal bad_request "$_word is no section"
            _take "${_word#*:}"
            if [ "${#_body}" != "${_word#*:}" ]; then
                _wrong="$_name holds a NUL byte, which no shell can take"
            else
                _section "$_name"
            fi
            ;;
        *) _fatal bad_request "$_word is neither a key nor a section" ;;
        esac
    done
    if [ "$_verb" = hello ] || [ -z "$_wrong$_unknown" ]; then
        [ -z "$_unknown" ] || _fatal bad_request "unknown:$_unknown"
        _serve_"$_verb"
    else
        _refuse "$_id" bad_request "${_wrong:-unknown:$_unknown}"
    fi
}

# What each verb knows. A value is put aside as _k_NAME, a number checked.
_key() {
    case $_verb:$1 in
    hello:nonce | hello:resume | run:session | run:input | run:stdin | slice:stream | slice:mode) ;;
    hello:v | hello:host_bytes | hello:max_sessions | run:timeout_ms | run:cap | run:duration_ms | run:sample_ms | \
        run:sample_count | run:keep | slice:of | slice:first | slice:last | slice:before | slice:after | \
        slice:max_lines | slice:max_bytes | slice:line_bytes)
        _is_number "$2" || _wrong="$1 is not a number: $2"
        ;;
    *)
        _unknown="$_unknown $1"
        return
        ;;
    esac
    eval "_k_$1=\$2"
}

_section() {
    case $_verb:$1 in
    run:command) _command=$_body _has_command=1 ;;
    run:cwd) _cwd=$_body _has_cwd=1 ;;
    run:become) _become=$_body ;;
    run:requires) _requires=$_body ;;
    run:env.*)
        _name=${1#env.}
        case $_name in
        '' | [0-9]* | *[!A-Za-z0-9_]*) _wrong="$_name is not a name that a variable can have" ;;
        *)
            _quote "$_body"
            _env="$_env$_name=$_q "
            _names="$_names $_name"
            ;;
        esac
        ;;
    run:probe.?*.*.*)
        _kind=${1%.*}
        _stream=${1##*.}
        _name=${_kind%.*}
        _name=${_name#probe.}
        _kind=${_kind##*.}
        case $_kind:$_stream in
        contains:stdout | contains:stderr | matches:stdout | matches:stderr | equals:stdout | equals:stderr)
            _probes=$((_probes + 1))
            eval "_p${_id}_$_probes=\$_name:\$_kind:\$_stream _pt${_id}_$_probes=\$_body"
            ;;
        *) _wrong="$1 is not probe.NAME.KIND.STREAM" ;;
        esac
        ;;
    run:probe.*) _wrong="$1 is not probe.NAME.KIND.STREAM" ;;
    run:prompt.*) _prompts=1 ;;
    slice:pattern) _pattern=$_body _has_pattern=1 ;;
    *) _unknown="$_unknown $1" ;;
    esac
}

_begin_hello() { _k_v='' _k_nonce='' _k_host_bytes=4611686018427387904 _k_max_sessions=16 _k_resume=''; }
_begin_run() {
    _k_session='' _k_timeout_ms=60000 _k_cap=67108864 _k_input=fail _k_stdin=null
    _k_duration_ms=0 _k_sample_ms=0 _k_sample_count=0 _k_keep=0
    _command='' _has_command='' _cwd='' _has_cwd='' _become='' _requires='' _env='' _names='' _probes=0 _prompts=
}
_begin_slice() {
    _k_of='' _k_stream=stdout _k_mode=head _k_first=0 _k_last=0 _k_before=0 _k_after=0
    _k_max_lines=20 _k_max_bytes=4096 _k_line_bytes=500 _pattern='' _has_pattern=
}
_begin_cancel() { :; }
_begin_bye() { :; }

_serve_hello() {
    [ -z "$_wrong" ] || _fatal bad_request "$_wrong"
    [ "$_k_v" = 1 ] || _fatal version "the agent speaks version 1, the client $_k_v"
    _hello=1
    _left=$_k_host_bytes
    _most=$_k_max_sessions
    case $_k_resume in
    '' | *[!0-9a-z-]*) ;;
    *) _end_other "$_k_resume" ;;
    esac
    _json "$_k_nonce"
    _nonce=$_j
    _json "$(id -un 2>/dev/null || id -u)"
    _user=$_j
    _json "$(uname -n)"
    _host=$_j
    _json "$_d"
    _dir=$_j
    _json "$_shell"
    printf '{"t":"hello","nonce":%s,"v":1,"agent":"%s","python":"","bash":"%s","shell":%s,' \
        "$_nonce" "${CHECKRUNNER_DIGEST-}" "$_bash_version" "$_j"
    # shellcheck disable=SC2086
    _words $_lacks
    printf '"agent_kind":"shell","lacks":%s,"uid":%s,"user":%s,"host":%s,"pid":%s,"clock":%s,"dir":%s}\n' \
        "$_j" "$_uid" "$_user" "$_host" "$$" "$(date +%s)" "$_dir"
}

# _end_other TOKEN: end the agent whose link the client knows to be dead. It may not know, and would go on. Its ticker
# sees that it is wanted; its number may be somebody else's by now, or one of another namespace.
_end_other() {
    for _s in "${XDG_RUNTIME_DIR-}" /dev/shm /var/tmp /tmp "${HOME-}"; do
        _x=$_s/checkrunner-$1
        # The name is no secret: only in a directory of our own is anything to be believed, or made. One that ticks.
        if [ -O "$_x/." ] && [ ! -L "$_x" ] && [ -n "$(find "$_x/beat" -mmin -1 2>/dev/null)" ]; then
            mkdir "$_x/wanted"
            _n=0
            while [ "$_n" -lt 6 ] && [ -d "$_x" ]; do
                _n=$((_n + 1))
                sleep 1
            done
        fi
    done
}

_serve_run() {
    if [ -z "$_k_session" ] || [ -z "$_has_command" ]; then
        _refuse "$_id" bad_request "a run needs session= and command:"
        return
    fi
    eval "_x=\${_phase$_id-}"
    if [ -n "$_x" ]; then
        _refuse "$_id" bad_request "the id $_id was used before"
        return
    fi
    _x=
    [ -z "$_prompts" ] || _x="$_x prompts,"
    [ "$_k_stdin" = null ] || _x="$_x stdin: tty,"
    [ "$_k_sample_count$_k_sample_ms" = 00 ] || _x="$_x sample,"
    [ "$_k_keep" = 0 ] || _x="$_x keep_children,"
    if [ -n "$_x" ]; then
        _refuse "$_id" not_available "not available with the agent in shell, which is for hosts without Python 3.6:${_x%,}"
        return
    fi
    _session=
    _x=0
    while [ "$_x" -lt "$_sessions" ]; do
        _x=$((_x + 1))
        eval "_s=\$_sname$_x"
        [ "$_s" != "$_k_session" ] || _session=$_x
    done
    if [ -z "$_session" ]; then
        if [ "$_sessions" -ge "$_most" ]; then
            _refuse "$_id" too_many_sessions "there are $_sessions sessions, as many as may be"
            return
        fi
        _sessions=$((_sessions + 1))
        _session=$_sessions
        eval "_sname$_session=\$_k_session"
        _open_session "$_session"
    fi
    _script
    eval "_phase$_id=queued _text$_id=\$_text _ses$_id=$_session _cap$_id=$_k_cap _np$_id=$_probes
        _limit$_id=\$(((_k_timeout_ms + 9) / 10)) _dur$_id=\$(((_k_duration_ms + 9) / 10)) _waiting$_id= _notes$_id=
        _ending$_id= _missing$_id= _rc$_id= _sig$_id= _why$_id= _left$_id="
    eval "_queue$_session=\"\$_queue$_session \$_id\""
    _next "$_session"
}

# What the shell of the session is to read for this run: _text.
_script() {
    _text=
    _say=">>'$_d/ev'"
    if [ -n "$_become" ] && [ "$_become" != "$(id -un 2>/dev/null)" ] &&
        [ "$(id -u "$_become" 2>/dev/null)" != "$_uid" ]; then
        _text="\\command echo 'n $_session $_id become_unavailable' $_say$_nl"
        return
    fi
    _need=
    while [ -n "$_requires" ]; do
        _word=${_requires%%"$_nl"*}
        case $_requires in
        *"$_nl"*) _requires=${_requires#*"$_nl"} ;;
        *) _requires= ;;
        esac
        [ -n "$_word" ] || continue
        _quote "$_word"
        case $_word in
        */*) _test="[ -e $_q ]" ;;
        *) _test="\\command -v -- $_q >/dev/null 2>&1" ;;
        esac
        _need="${_need}if ! $_test; then \\command printf 'm $_session $_id %s\\n' $_q $_say; __checkrunner_go=missing; fi$_nl"
    done
    for _name in $_names; do
        _need="${_need}if ! ( \\command unset $_name ) 2>/dev/null; then __checkrunner_go=env_failed; fi$_nl"
    done
    if [ -n "$_has_cwd" ]; then
        case $_cwd in
        '~' | '~/'*)
            _quote "${_cwd#?}"
            _q="\"\${HOME-}\"$_q"
            ;;
        *) _quote "$_cwd" ;;
        esac
        _need="${_need}__checkrunner_from=\$PWD
if [ \"\$__checkrunner_go\" ]; then :; elif \\command cd -- $_q >/dev/null 2>&1; then __checkrunner_to=\$PWD; else __checkrunner_go=cwd_failed; fi$_nl"
    fi
    _quote "$_command"
    _text="$_env\\command eval $_q </dev/null >'$_d/f$_id.o' 2>'$_d/f$_id.e'"
    _back=
    if [ -n "$_has_cwd" ]; then
        _back="if [ \"\$PWD\" = \"\$__checkrunner_to\" ]; then \\command cd -- \"\$__checkrunner_from\" >/dev/null 2>&1; fi$_nl"
    fi
    _said="__checkrunner_rc=\$?
\\unset -f command 2>/dev/null
$_back$_snap >>'$_d/t$_session' 2>/dev/null || \\command :
case \$PWD in
*'$_nl'*) \\command echo \"d $_session $_id \$__checkrunner_rc\" $_say ;;
*) \\command printf 'd $_session $_id %s %s\\n' \"\$__checkrunner_rc\" \"\$PWD\" $_say ;;
esac$_nl"
    if [ -z "$_need" ]; then
        _text="$_text$_nl$_said"
    else
        _text="__checkrunner_go=
${_need}if [ \"\$__checkrunner_go\" ]; then
$_back\\command echo \"n $_session $_id \$__checkrunner_go\" $_say
else
$_text
${_said}fi$_nl"
    fi
}

_serve_slice() {
    eval "_x=\${_phase$_k_of-}"
    case $_k_mode:$_k_stream in
    head:std* | tail:std* | lines:std* | bytes:std* | match:std* | salient:std* | packed:std*) ;;
    *)
        _refuse "$_id" bad_request "no mode $_k_mode of a stream $_k_stream"
        return
        ;;
    esac
    if [ -z "$_x" ]; then
        _refuse "$_id" no_such_run "there is no run $_k_of"
    elif { [ "$_k_mode" = match ] && [ -z "$_has_pattern" ]; } || { [ "$_k_mode" != match ] && [ -n "$_has_pattern" ]; }; then
        _refuse "$_id" bad_request "mode=match has a pattern, and no other has"
    else
        _x="$_id $_k_stream $_k_mode $_k_first $_k_last $_k_before $_k_after $_k_max_lines $_k_max_bytes $_k_line_bytes"
        eval "_slice$_id=\$_x _pattern$_id=\$_pattern _x=\$_phase$_k_of"
        if [ "$_x" = over ]; then
            _start_slice "$_k_of" "$_id"
        else
            eval "_waiting$_k_of=\"\$_waiting$_k_of \$_id\""
        fi
    fi
}

# _start_slice RUN ID: a process answers it.
_start_slice() {
    (
        exec </dev/null 4>&- 5>&-
        eval "set -- $1 \$_slice$2; _pattern=\$_pattern$2"
        _slice "$@" >"$_d/a$2" 2>/dev/null || _refuse "$2" bad_request "$_error" >"$_d/a$2"
        echo "a $2" >&3
    ) &
    unset "_slice$2" "_pattern$2"
}

_serve_cancel() {
    _cancels="$_cancels $_id"
    _cancel
    _cancelled
}

_serve_bye() {
    _leaving=$_id
    _cancel
    [ "$_running" -gt 0 ] || _leave
    # Nothing more is read: see _main.
}

_cancel() {
    _each=0
    while [ "$_each" -lt "$_sessions" ]; do
        _each=$((_each + 1))
        eval "set -- \$_queue$_each; _queue$_each= _run=\$_run$_each"
        [ -z "$_run" ] || _end "$_run" killed cancelled
        for _queued; do
            eval "_notes$_queued=cancelled _why$_queued=not_run"
            _conclude "$_queued"
        done
    done
}

_cancelled() {
    if [ "$_running" = 0 ]; then
        for _s in $_cancels; do printf '{"t":"ok","id":%s}\n' "$_s"; done
        _cancels=
    fi
}

# --- sessions ---------------------------------------------------------------------------------------------------------

_open_session() {
    mkfifo "$_d/t$1" "$_d/s$1.0" || _fatal storage "no FIFO can be made in $_d"
    _now
    eval "_queue$1= _run$1= _ready$1= _shell$1= _born$1= _past$1= _boot$1=$_t _said$1= _gen$1=0 _cwd$1=\$PWD _old$1="
    _keeper "$1" </dev/null >/dev/null 2>&1 4>&- 5>&- &
    _keepers="$_keepers $!"
}

# _keeper SESSION: see above. The state that counts is the last that was said to its end.
_keeper() {
    trap - HUP INT TERM PIPE
    _k=0 _state='' _fails=0
    # Opened for both: what is said while nobody reads is not lost, and there is never an end.
    exec 6<>"$_d/t$1"
    while :; do
        _start_shell "$1" &
        # A shell that dies while it is written to would end us with SIGPIPE.
        (exec 6>&-; _prelude "$1" >"$_d/s$1.$_k") 2>/dev/null &
        _how=replaced _rc='' _up=''
        while [ -z "$_rc" ]; do
            IFS= read -r _line <&6 || return
            case $_line in
            "#begin $_token") _new='' _some='' _n=0 ;;
            "#end $_token") _state=$_new$_some ;;
            "#up $_token $_k") _up=1 _fails=0 ;;
            "#exit $_token") _how=exited ;;
            "#dead $_token $_k "*) _rc=${_line#* * * } ;;
            "#dead $_token "*) ;;
            "#lost $_token $_k") _how=lost _rc='0 0' ;;
            *)
                # In two steps: a long text that grows line by line is copied too often.
                _some=$_some$_line$_nl
                _n=$((_n + 1))
                if [ "$_n" = 100 ]; then
                    _new=$_new$_some
                    _some='' _n=0
                fi
                ;;
            esac
        done
        # Where everything comes to an end, our shell is ended too.
        [ -p "$_d/ev" ] && [ ! -e "$_d/over" ] || return
        # A state of which no shell comes back is none to keep, least of all one that it does not get through.
        [ -n "$_up" ] || _fails=$((_fails + 1))
        if [ "$_fails" -ge 2 ] || [ "$_how$_up" = lost ]; then _state=; fi
        _release "$_d/s$1.$_k"
        rm -f "$_d/s$1.$_k"
        _k=$((_k + 1))
        mkfifo "$_d/s$1.$_k"
        echo "x $1 $_how $_rc" >&3
        if [ "$_fails" -ge 5 ]; then
            echo "z $1" >&3
            return
        fi
    done
}

_start_shell() {
    exec 3>&-
    umask "$_umask"
    trap - HUP INT TERM PIPE
    case $_lc in
    '') unset LC_ALL ;;
    *) LC_ALL=${_lc#x} ;;
    esac
    (
        unset BASH_ENV ENV PROMPT_COMMAND CHECKRUNNER_DIGEST OLDPWD
        CHECKRUNNER_SHELL=$_token.$1.$_k. PAGER=cat GIT_PAGER=cat SYSTEMD_PAGER=cat MANPAGER=cat TERM=${TERM-dumb}
        export CHECKRUNNER_SHELL PAGER GIT_PAGER SYSTEMD_PAGER MANPAGER TERM
        # Opened for both, so that it never sees an end; main and the keeper open it only while they write.
        # shellcheck disable=SC2086
        exec $_setsid "$_shell" $_shell_options -s <>"$_d/s$1.$_k" >/dev/null 2>&1 6>&-
    )
    _rc=$?
    _moment
    printf '\n#dead %s %s %s %s\n' "$_token" "$_k" "$_rc" "$_born" >&6
}

# _release FIFO: who waits for its other end gets one, which is gone at once.
_release() {
    [ ! -p "$1" ] || : <>"$1"
}

# What a new shell reads first: the state of the one before, our traps, and the word that it is there.
_prelude() {
    if [ -n "$_state" ]; then
        _quote "$_state
\\command cd -- \"\$PWD\""
        printf '%s\n' "\\command eval $_q >/dev/null 2>&1 || \\command :"
    fi
    echo "CHECKRUNNER_SHELL=$_token.$1.$_k."
    _quote "{ \\command echo '#exit $_token'; $_snap; } >>'$_d/t$1' 2>/dev/null || \\command :
case \$PWD in
*'$_nl'*) ;;
*) \command printf 'y $1 %s\n' \"\$PWD\" >>'$_d/ev' ;;
esac"
    printf '%s\n' "trap $_q EXIT" "trap '\\command exit 143' TERM" \
        "\\command echo '#up $_token $_k' >>'$_d/t$1'; \\command echo 'b $1 '\$\$ >>'$_d/ev'"
}

_next() {
    eval "_run=\$_run$1 _ready=\$_ready$1"
    [ -z "$_run" ] && [ -n "$_ready" ] || return 0
    eval "set -- $1 \$_queue$1"
    [ $# -gt 1 ] || return 0
    _session=$1
    _run=$2
    shift 2
    eval "_queue$_session=\$* _run$_session=$_run"
    _begin "$_run" "$_session"
}

_begin() {
    _running=$((_running + 1))
    eval "_c=\$_cap$1"
    _host_cap=
    _make_room "$_c"
    if [ "$_left" -lt "$_c" ]; then
        _c=$_left _host_cap=1
    fi
    eval "_phase$1=running _cap$1=$_c _hc$1=$_host_cap _pumps$1= _cat_o$1= _cat_e$1= _done_o$1= _done_e$1= _dead$1= _told$1= _hit$1= _doubt$1=
        _from$1=\$_gen$2"
    eval "_notes$1=\"\$_notes$1 \$_said$2\" _said$2="
    if ! mkfifo "$_d/f$1.o" "$_d/f$1.e" 2>/dev/null; then
        _refuse "$1" storage "no FIFO can be made in $_d"
        eval "_phase$1= _run$2="
        _running=$((_running - 1))
        _next "$2"
        return
    fi
    for _s in o e; do
        _pump "$1" "$_s" "$_c" </dev/null >/dev/null 2>&1 4>&- 5>&- &
        eval "_pumps$1=\"\$_pumps$1 $!\""
    done
    eval "_text=\$_text$1 _shell_pid=\$_shell$2 _g=\$_gen$2 _limit=\$_limit$1 _dur=\$_dur$1"
    unset "_text$1"
    _ticks "$_shell_pid"
    _last_pid
    _now
    [ "$_dur" -eq 0 ] || [ "$_dur" -gt "$_limit" ] || _limit=$_dur
    eval "_began$1=$_t _by$1=$((_t + _limit)) _ticks$1=$_cpu _pid$1=$_last"
    [ "$_limit" -ge 300 ] || _alarm "$_limit" "k"
    _write_shell "$2" "$_g" "$_text"
}

# _write_shell SESSION GENERATION TEXT: by a process of its own: a shell that does not read holds up nobody else.
_write_shell() {
    (
        exec </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&-
        [ ! -p "$_d/s$1.$2" ] || printf %s "$3" >"$_d/s$1.$2"
    ) &
}

# _make_room BYTES: where a command may need more than is left, what the oldest runs wrote gives way, but not that of the
# last three.
_make_room() {
    # shellcheck disable=SC2086
    set -- "$1" $_holding
    while [ "$_left" -lt "$1" ] && [ $# -gt 4 ]; do
        _s=${2%:*}
        rm -f "$_d/o$_s" "$_d/e$_s" "$_d/o$_s".* "$_d/e$_s".*
        _left=$((_left + ${2#*:}))
        _s=$1
        shift 2
        set -- "$_s" "$@"
    done
    shift
    _holding="$*"
}

# _pump RUN o|e CAP
_pump() {
    trap - HUP INT TERM PIPE
    exec 6<"$_d/f$1.$2"
    rm -f "$_d/f$1.$2"
    (
        exec 3>&-
        ulimit -f $(($3 / 512 + 1))
        exec cat <&6 >"$_d/$2$1"
    ) &
    echo "p $1 $2 $!" >&3
    wait $!
    echo "c $1 $2 $?" >&3
    exec 3>&-
    exec cat <&6
}

# _ticks PID: _cpu is the time that a shell and its ended children have used, in ticks of the clock.
_ticks() {
    _cpu=0
    read -r _s 2>/dev/null <"$_proc/$1/stat" || return 0
    # shellcheck disable=SC2086
    set -- ${_s##*) }
    [ $# -lt 15 ] || _cpu=$((${12} + ${13} + ${14} + ${15}))
}

_last_pid() {
    _last=0
    if read -r _s 2>/dev/null </proc/loadavg; then _last=${_s##* }; fi
}

# --- processes --------------------------------------------------------------------------------------------------------

# Nothing that the host says of others is taken on trust: any user can give a process a name, or an environment, that
# looks like lines about another process. So what is found in files that are read together is looked at again, each
# process in its own files, before it counts.

# _fields TEXT: _st _pp _sid _born are state, parent, session and start (in ticks) of the process with that `stat`.
_fields() {
    # shellcheck disable=SC2086
    set -- ${1##*) }
    [ $# -ge 20 ] || return 1
    _st=$1 _pp=$2 _sid=$4 _born=${20}
}

# _stat PID: the same, of a process that there is; _row is the whole text.
_stat() {
    read -r _row 2>/dev/null <"$_proc/$1/stat" || return 1
    _fields "$_row" || {
        # There is a newline in its name.
        _row=$(cat "$_proc/$1/stat" 2>/dev/null)
        _fields "$_row"
    }
}

# _is_process WORD: whether it can be the number of a process that we started. What is 0 or 1 has the whole host for its
# session and its descendants.
_is_process() {
    _is_number "$1" && [ "$1" -gt 2 ] || return 1
    case $_fence in
    *" $1 "*) return 1 ;;
    esac
}

# _signal NAME PID...: signals are sent nowhere else, and only one by one, to numbers that can be those of processes of ours.
_signal() {
    _name=$1
    shift
    for _p; do
        if _is_process "$_p"; then kill "-$_name" "$_p" 2>/dev/null; fi
    done
}

# _stop PID...: end helpers. The number of one that has ended may be somebody else's, but no child of ours. A TERM could be
# lost on one that has only just been started, and still has our traps.
_stop() {
    for _x; do
        if [ "$_proc" != /proc ] || { _stat "$_x" && [ "$_pp" = "$$" ]; }; then _signal KILL "$_x"; fi
    done
}

# _shell_of SESSION: _shell_pid is its shell, if that is still the process that said so.
_shell_of() {
    eval "_shell_pid=\$_shell$1 _x=\$_born$1"
    [ -n "$_shell_pid" ] || return 0
    if [ -n "$_x" ] && ! { _stat "$_shell_pid" && [ "$_born" = "$_x" ]; }; then _shell_pid=; fi
}

# _moment: _born is now, as the start of a process.
_moment() {
    _fields "$(cat "$_proc/self/stat" 2>/dev/null)" || _born=0
}

# _holders: of the files of environments that the input names, those in which _MARK may be the value of
# CHECKRUNNER_SHELL. No more processes than three: there may be thousands of files. `head` names each; for many a grep a
# NUL is the end of the file. The mark is not an argument, which everyone could read.
_holders() {
    xargs head -v -c 1000000 /dev/null 2>/dev/null | tr '\000' '\n' | _MARK=CHECKRUNNER_SHELL=$_mark awk '
        /^==> / { file = $2 } index($0, ENVIRON["_MARK"]) == 1 && file { print file; file = "" }'
}

# _marked MARK all|PID...: _found are those of the processes that live and whose environment says that they are ours.
_marked() {
    _mark=$1
    shift
    _found=
    [ $# -gt 0 ] || return 0
    for _x in $(cd "$_proc" 2>/dev/null && {
        [ "$1" != all ] || set -- [0-9]*
        for _p; do [ ! -r "$_p/environ" ] || echo "$_p/environ"; done
    } | _holders); do
        _x=${_x%/environ}
        _is_process "$_x" || continue
        case $_nl$(tr '\000\n' '\n\001' 2>/dev/null <"$_proc/$_x/environ") in
        *"${_nl}CHECKRUNNER_SHELL=$_mark"*) ;;
        *) continue ;;
        esac
        _stat "$_x" || continue
        case $_st in [ZX]) continue ;; esac
        _found="$_found $_x"
    done
}

# _grow: to the processes in _tree come those that descend from them, or are in a session of _sids: they may have lost
# the variable. _past has sessions whose shell has ended, and when: its number may have been given out again since then,
# so that only who is older counts.
_grow() {
    _more=$(cat "$_proc"/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) (.*) /\1 /')
    _was=
    while [ "$_was" != "$_tree" ]; do
        _was=$_tree
        while read -r _a _b _c _e _f _rest; do
            case $_tree in *" $_a "*) continue ;; esac
            case $_tree$_sids$_past in
            *" $_c "* | *" $_f "* | *" $_f:"*) ! _belongs "$_a" || _tree="$_tree$_a " ;;
            esac
        done <<END
$_more
END
    done
}

_belongs() {
    _is_process "$1" && _stat "$1" || return 1
    case $_st in [ZX]) return 1 ;; esac
    case $_tree in *" $_pp "*) return 0 ;; esac
    [ -n "$_setsid" ] && _is_process "$_sid" || return 1
    case $_sids in *" $_sid "*) return 0 ;; esac
    case $_past in
    *" $_sid:"*)
        # Its leader has ended. Its number is given to another one only when nobody of the session is left.
        [ ! -d "$_proc/$_sid" ] || return 1
        _x=${_past#*" $_sid:"}
        [ "$_born" -le "${_x%% *}" ]
        ;;
    *) return 1 ;;
    esac
}

# _family RUN SESSION: _found is everything that the session's shell has started for the run and that lives, but what
# commands before left; _shell_pid is that shell. Where it has ended, the shell that the session has by now is no part,
# even before it has said that it is there. RUN can be `_`, for what a shell has started before any.
_family() {
    eval "_was=\$_shell$2 _spare=\" \$_old$2 \" _past=\" \$_past$2 \" _dead=\${_dead$1-} _generation=\${_from$1-\$_gen$2}"
    _shell_of "$2"
    if [ -n "$_dead" ]; then
        _spare="$_spare$_shell_pid "
        _shell_pid=
    else
        _past=' '
        if [ "$_was" != "$_shell_pid" ]; then
            _moment
            _past=" $_was:$_born "
        fi
    fi
    _marked "$_token.$2.$_generation." all
    _tree=' '
    for _p in $_shell_pid $_found; do ! _is_process "$_p" || _tree="$_tree$_p "; done
    _sids=" $_shell_pid "
    _grow
    # What descends from what is spared is spared too.
    case $_spare in
    *[0-9]*) _was= ;;
    *) _was=$_spare ;;
    esac
    while [ "$_was" != "$_spare" ]; do
        _was=$_spare
        for _p in $_tree; do
            case $_spare in *" $_p "*) continue ;; esac
            _stat "$_p" || continue
            case $_spare in *" $_pp "*) _spare="$_spare$_p " ;; esac
        done
    done
    _found=
    for _p in $_tree; do
        case $_spare in
        *" $_p "*) ;;
        *) [ "$_p" = "$_shell_pid" ] || _found="$_found $_p" ;;
        esac
    done
}

# --- how a command ends -----------------------------------------------------------------------------------------------

# The shell itself is ended too, or it would go on to the next command of the check when this one dies. But it may be
# through with the run, and have said so, while that is still on its way to us. A shell that waits for its next command
# takes its TERM to heart only when it reads one. So one that was ended and then says that it is through is asked once
# more: it answers or has ended, and before that no other run is given to it. One that has said so is not ended.

# _end RUN EXECUTION [NOTE]: begin to end it.
_end() {
    eval "_s=\$_ending$1 _p=\$_phase$1"
    [ -z "$_s" ] && [ "$_p" = running ] || return 0
    eval "_ending$1=\$2 _notes$1=\"\$_notes$1 \${3-}\" _session=\$_ses$1"
    if ! _is_through "$1"; then
        _shell_of "$_session"
        _signal TERM "$_shell_pid"
        eval "_hit$1=1"
    fi
    _family "$1" "$_session"
    # shellcheck disable=SC2086
    _signal TERM $_found
    # shellcheck disable=SC2086
    _signal CONT $_found
    _alarm 100 "g $1 1"
}

# _is_through RUN: whether its shell has nothing to do with it any more: it has ended, or said so and lives on.
_is_through() {
    eval "_e=\$_told$1 _x=\$_dead$1 _s=\$_doubt$1"
    [ -n "$_x" ] || { [ -n "$_e" ] && [ -z "$_s" ]; }
}

# _ask_shell RUN SESSION: it has said that it is through. The answer is an event, or that it has ended.
_ask_shell() {
    eval "_s=\$_hit$1 _x=\$_dead$1 _g=\$_gen$2"
    [ -n "$_s" ] && [ -z "$_x" ] || return 0
    eval "_doubt$1=1"
    # The trap comes before the second command, whether a shell looks for signals before or after each.
    _write_shell "$2" "$_g" "\\command :$_nl\\command echo 'u $2 $1' >>'$_d/ev'$_nl"
}

# _force RUN STAGE: it has not ended.
_force() {
    eval "_s=\$_phase$1 _session=\$_ses$1"
    [ "$_s" = running ] || return 0
    if [ "$2" = 1 ] && ! _is_through "$1"; then
        _shell_of "$_session"
        _signal KILL "$_shell_pid"
        eval "_hit$1=1"
    fi
    _family "$1" "$_session"
    ! _is_through "$1" || _shell_pid=
    # Some may have been started only since the last look.
    eval "_known=\" \${_killed$1-} \" _fresh="
    for _p in $_found $_shell_pid; do
        case $_known in
        *" $_p "*) ;;
        *) _fresh="$_fresh $_p" ;;
        esac
    done
    if [ "$2" = 1 ] || { [ -n "$_fresh" ] && [ "$2" -lt 10 ]; }; then
        eval "_killed$1=\"\$_known\$_fresh\""
        # shellcheck disable=SC2086
        _signal KILL $_fresh
        _alarm 100 "g $1 $(($2 + 1))"
        return
    fi
    _stuck=
    for _p in $_found $_shell_pid; do
        _stat "$_p" || continue
        case $_st in [ZX]) continue ;; esac
        _row=${_row%)*}
        _stuck="$_stuck${_stuck:+, }${_row#*(} (pid $_p)"
    done
    if [ -z "$_stuck" ]; then
        # Only an output is still held, by something that is not ours.
        if _is_through "$1"; then _settle "$1"; else _alarm 100 "g $1 $2"; fi
        return
    fi
    eval "_ending$1=stuck _notes$1=\"\$_notes$1 session_abandoned\" _state$1=\"has not ended after KILL: \$_stuck\""
    _is_through "$1" || _abandon "$_session"
    eval "_old$_session=\"\$_old$_session \$_found \$_shell_pid\""
    _settle "$1"
}

# _abandon SESSION: what it has for a shell is given up; its keeper starts another.
_abandon() {
    eval "_ready$1= _shell$1= _born$1= _s=\$_gen$1"
    echo "#lost $_token $_s" 1<>"$_d/t$1"
}

# _never_up SESSION: its new shell does not come. It may hang in the directory that it was to enter.
_never_up() {
    _shell_pid=
    _family _ "$1"
    # shellcheck disable=SC2086
    _signal KILL $_found
    eval "_old$1=\"\$_old$1 \$_found\" _boot$1=$_t _said$1=state_lost"
    _abandon "$1"
}

# _give_up SESSION: no shell can be started for it.
_give_up() {
    eval "_x=\$_queue$1 _queue$1= _sname$1=' '"
    for _s in $_x; do
        eval "_phase$_s="
        _refuse "$_s" internal "the shell of its session cannot be started"
    done
}

# An event of the shell: _report RUN RC CWD.
_heard() {
    eval "_s=\${_phase$1-} _e=\${_told$1-}"
    [ "$_s" = running ] && [ -z "$_e" ] || return 0
    _now
    eval "_told$1=1 _rc$1=\$2 _took$1=$_t _session=\$_ses$1"
    if [ -n "$3" ]; then
        eval "_cwd$_session=\$3"
    else
        eval "_s=\$_shell$_session"
        _s=$(cd -P "$_proc/$_s/cwd" 2>/dev/null && pwd -P && echo .) && eval "_cwd$_session=\${_s%??}"
    fi
    eval "_look_left $1 $_session.\$_gen$_session"
    _ask_shell "$1" "$_session"
    _settled "$1"
}

# What a command left running: among the pids that were given out meanwhile. Where there is something, an output may be
# held open, and its pump is not waited for any longer than it has something to read.
_look_left() {
    eval "_before=\$_pid$1 _x=\$_pumps$1 _s=\$_ending$1"
    [ -z "$_s" ] || return 0
    _last_pid
    _run=$1
    _generation=$2
    _session=${2%.*}
    eval "_shell_pid=\$_shell$_session"
    set --
    if [ "$_last" -ge "$_before" ] && [ $((_last - _before)) -lt 2000 ]; then
        while [ "$_before" -lt "$_last" ]; do
            _before=$((_before + 1))
            case " $_x $_shell_pid " in
            *" $_before "*) ;;
            *) [ ! -d "$_proc/$_before" ] || set -- "$@" "$_before" ;;
            esac
        done
    else
        set -- all
    fi
    _marked "$_token.$_generation." "$@"
    eval "_spare=\" \$_old$_session \""
    _new=
    for _s in $_found; do
        case $_spare in
        *" $_s "*) ;;
        *) [ "$_s" = "$_shell_pid" ] || _new="$_new $_s" ;;
        esac
    done
    eval "_left$_run=\$_new _old$_session=\"\$_old$_session\$_new\""
    [ -z "$_new" ] && [ -d "$_proc/self" ] || _alarm 5 "w $_run 0"
    set -- "$_run"
}

# _settled RUN: whether its end was told and both outputs were read, then it is over.
_settled() {
    eval "_s=\${_phase$1-} _session=\${_ses$1-} _o=\$_done_o$1 _p=\$_done_e$1"
    if [ "$_s" = running ] && [ -n "$_o" ] && [ -n "$_p" ] && _is_through "$1"; then
        # Of one that has to end, everyone has to be gone; else _force comes.
        eval "_x=\$_ending$1"
        if [ -n "$_x" ]; then _family "$1" "$_session"; else _found=; fi
        [ -n "$_found" ] || _settle "$1"
    fi
}

# _drained RUN ROUND: its outputs are held open. Those whose pump sleeps are empty.
_drained() {
    eval "_s=\${_phase$1-} _x=\$_ending$1"
    [ "$_s$_x" = running ] || return 0
    for _o in o e; do
        eval "_s=\$_done_$_o$1 _p=\$_cat_$_o$1"
        [ -z "$_s" ] || continue
        _s=
        [ -z "$_p" ] || read -r _s 2>/dev/null <"$_proc/$_p/stat" || :
        case ${_s##*) } in
        S* | '') ;;
        *)
            if [ "$2" -lt 100 ]; then
                _alarm 5 "w $1 $(($2 + 1))"
                return
            fi
            ;;
        esac
    done
    _settle "$1"
}

# _settle RUN: nothing more comes. A process counts it up.
_settle() {
    eval "_session=\$_ses$1 _e=\$_ending$1 _o=\$_done_o$1 _p=\$_done_e$1 _x=\$_pumps$1 _took=\${_took$1-}"
    eval "_phase$1=over_soon _shell_pid=\$_shell$_session"
    _ticks "$_shell_pid"
    [ -n "$_took" ] || { _now; _took=$_t; }
    eval "_elapsed$1=\$((_took - _began$1)) _used$1=\$((_cpu - _ticks$1))"
    eval "_open_o$1= _open_e$1="
    [ -n "$_o" ] || eval "_open_o$1=1"
    [ -n "$_p" ] || eval "_open_e$1=1"
    _conclude "$1"
}

# _never RUN REASON: it was not run.
_never() {
    eval "_s=\${_phase$1-} _q=\$_pumps$1 _session=\$_ses$1"
    [ "$_s" = running ] || return 0
    # They still wait for somebody to write.
    # shellcheck disable=SC2086
    _stop $_q
    rm -f "$_d/f$1.o" "$_d/f$1.e"
    [ "$2" = missing ] || eval "_notes$1=\"\$_notes$1 \$2\""
    _now
    eval "_why$1=not_run _told$1=1 _took$1=$_t _done_o$1=0 _done_e$1=0"
    _ask_shell "$1" "$_session"
    _settled "$1"
}

# _died SESSION HOW RC WHEN: its shell has ended.
_died() {
    eval "_run=\$_run$1 _s=\$_shell$1 _x=\$_born$1"
    if [ -n "$_s" ]; then
        echo "$_s $_x $4" >>"$_d/shells"
        eval "_past$1=$_s:$4"
    fi
    _now
    eval "_ready$1= _shell$1= _born$1= _boot$1=$_t"
    if [ -n "$_run" ]; then _fell "$@"; fi
    eval "_gen$1=\$((_gen$1 + 1))"
}

_fell() {
    eval "_s=\$_phase$_run"
    [ "$_s" = running ] && ! _is_through "$_run" || return 0
    eval "_dead$_run=1 _x=\$_ending$_run"
    if [ -n "$_e" ]; then
        _settled "$_run"
        return
    fi
    _now
    eval "_took$_run=$_t"
    [ -n "$_x" ] || eval "_notes$_run=\"\$_notes$_run shell_$2\""
    if [ "$2" = replaced ] && [ "$3" -gt 128 ]; then
        eval "_sig$_run=\$(($3 - 128))"
    else
        eval "_rc$_run=$3"
        [ -n "$_x" ] || [ "$2" = exited ] || eval "_notes$_run=\"\$_notes$_run shell_exec\""
    fi
    eval "_look_left $_run $1.\$_gen$1"
    # The shell had not come as far as to open them.
    [ -p "$_d/f$_run.o" ] && eval "_done_o$_run=0" && rm -f "$_d/f$_run.o"
    [ -p "$_d/f$_run.e" ] && eval "_done_e$_run=0" && rm -f "$_d/f$_run.e"
    _settled "$_run"
}

_conclude() {
    eval "_session=\$_ses$1"
    eval "_cwd=\$_cwd$_session _name=\$_sname$_session"
    (
        exec </dev/null 4>&- 5>&- 2>/dev/null
        trap - HUP INT TERM PIPE
        _result "$1" >"$_d/a$1"
        echo "r $1 $_session $_kept" >&3
    ) &
}

# --- results ----------------------------------------------------------------------------------------------------------

_result() {
    eval "_execution=\$_ending$1 _why=\$_why$1 _notes=\$_notes$1 _rc=\$_rc$1 _sig=\$_sig$1 _cap=\$_cap$1 _left=\$_left$1"
    eval "_missing=\$_missing$1 _np=\$_np$1 _dur=\$_dur$1 _hc=\${_hc$1-} _state=\${_state$1-}"
    _kept=0
    _json "$_name"
    printf '{"t":"result","id":%s,"session":%s' "$1" "$_j"
    _json "$_cwd"
    printf ',"cwd":%s' "$_j"
    if [ "$_why" = not_run ]; then
        printf ',"execution":"not_run"'
    else
        eval "_e=\$_elapsed$1 _u=\$_used$1 _b=\$_began$1"
        _meta "$1" o stdout
        _meta "$1" e stderr
        case $_execution in
        '')
            _execution=done
            # An output at its limit costs what writes more its life, by SIGPIPE, perhaps before we have a hand in it.
            case $_capped in ?*)
                _execution=killed
                _notes="$_notes ${_hc:+host_}capped"
                ;;
            esac
            ;;
        done) _rc='' _notes="$_notes duration_ended" ;;
        esac
        printf ',"execution":"%s"' "$_execution"
        [ "$_execution" != done ] || [ -z "$_rc" ] || printf ',"rc":%s' "$_rc"
        [ -z "$_sig" ] || printf ',"signal":%s' "$_sig"
        _point "$_e"
        printf ',"elapsed_s":%s' "$_p"
        [ "$_u" -ge 0 ] || _u=0
        _point $((_u * 100 / _hertz))
        printf ',"cpu_s":%s' "$_p"
        _point $((_epoch + _b))
        printf ',"started_at":%s' "$_p"
        if [ "$_np" -gt 0 ]; then
            printf ',"probes":{'
            _i=0
            while [ "$_i" -lt "$_np" ]; do
                _i=$((_i + 1))
                eval "_s=\$_p${1}_$_i _text=\$_pt${1}_$_i"
                _stream=${_s##*:}
                _kind=${_s%:*}
                _json "${_kind%:*}"
                [ "$_i" = 1 ] || printf ,
                printf '%s:' "$_j"
                case $_stream in
                stdout) _probe "${_kind##*:}" "$_d/o$1" ;;
                *) _probe "${_kind##*:}" "$_d/e$1" ;;
                esac
            done
            printf '}'
        fi
    fi
    if [ -n "$_left" ]; then
        _j=
        for _s in $_left; do _j="$_j,$_s"; done
        printf ',"leftover":[%s]' "${_j#,}"
    fi
    # shellcheck disable=SC2086
    _words $_notes
    [ "$_j" = '[]' ] || printf ',"notes":%s' "$_j"
    if [ -n "$_missing" ]; then
        _list=
        while [ -n "$_missing" ]; do
            _json "${_missing%%"$_nl"*}"
            _list="$_list,$_j"
            _missing=${_missing#*"$_nl"}
        done
        printf ',"missing":[%s]' "${_list#,}"
    fi
    if [ -n "$_state" ]; then
        _json "$_state"
        printf ',"state":%s' "$_j"
    fi
    printf '}\n'
}

# _meta RUN o|e NAME: what is known of an output. Its file then has what was kept and does not change any more; beside
# it is its number of lines.
_meta() {
    _f=$_d/$2$1
    eval "_open=\$_open_$2$1 _s=\$_done_$2$1"
    [ -e "$_f" ] || : >"$_f" || return 0
    [ -s "$_f" ] || [ "${_s:-0}" != 0 ] || {
        [ -z "$_open" ] || { rm -f "$_f"; : >"$_f"; }
        return 0
    }
    _n=$(wc -c <"$_f")
    _n=$((_n))
    _whole=$_n
    _st=complete
    if [ "$_n" -gt "$_cap" ]; then
        _st=truncated
        _capped=1
    elif [ "${_s:-0}" != 0 ]; then
        _st=failed
    fi
    if [ -n "$_open" ] || [ "$_n" -gt "$_cap" ]; then
        [ "$_n" -le "$_cap" ] || _n=$_cap
        head -c "$_n" "$_f" >"$_f.c" && mv -f "$_f.c" "$_f"
    fi
    _kept=$((_kept + _n))
    # Every byte but the newline becomes an x: no tool has trouble with those.
    # shellcheck disable=SC2046
    set -- "$1" "$2" "$3" $(tr -c '\n' x <"$_f" | wc -lcL)
    _lines=$4
    _longest=$6
    _s=
    case $(tail -c 1 "$_f" | tr '\000' x) in
    ?*)
        _lines=$((_lines + 1))
        _s=',"nl":false'
        ;;
    esac
    echo "$_lines" >"$_d/$2$1.n"
    printf ',"%s":{"lines":%s,"bytes":%s,"captured":%s,"longest":%s%s' "$3" "$_lines" "$_whole" "$_n" "$_longest" "$_s"
    if [ "$(tr -d '\001-\177' <"$_f" | head -c 1 | wc -c)" -gt 0 ]; then
        [ "$(tr -dc '\000' <"$_f" | head -c 1 | wc -c)" -eq 0 ] || {
            printf ',"binary":true'
            : >"$_d/$2$1.b"
        }
        _s=$(_invalid "$_f")
        [ "$_s" = 0 ] || printf ',"invalid":%s' "$_s"
    fi
    _s=
    [ -z "$_sha" ] || _s=$(sha256sum <"$_f")
    printf ',"digest":"%s"' "${_s%% *}"
    [ "$_st" = complete ] || printf ',"state":"%s"' "$_st"
    printf '}'
}

# How many bytes of a file are not UTF-8: each byte becomes a letter for its class, what belongs together goes.
_invalid() {
    _s=$(tr '\000-\011\013-\377' \
        'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\
'qqqqqqqqqqqqqqqqrrrrrrrrrrrrrrrrsssssssssssssssssssssssssssssssszzbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcddddddddddddeddfggghzzzzzzzzzzz' <"$1" |
        sed 's/b[qrs]/a/g;s/cs[qrs]/a/g;s/d[qrs][qrs]/a/g;s/e[qr][qrs]/a/g;s/f[rs][qrs][qrs]/a/g;s/g[qrs][qrs][qrs]/a/g
            s/hq[qrs][qrs]/a/g' | tr -d 'a\n' | wc -c)
    echo $((_s))
}

# --- questions about outputs ------------------------------------------------------------------------------------------

# _plain FILE: _f is a file with the same lines that the tools here can read; some take a NUL for an end.
_plain() {
    _f=$1
    if [ -e "$1.b" ]; then
        [ -e "$1.t" ] || tr '\000' '\001' <"$1" >"$1.t"
        _f=$1.t
    fi
}

_count() { printf '{"count":%s,"first":%s}' "$1" "$2"; }

# _probe KIND FILE: answers $_text.
_probe() {
    _plain "$2"
    case $1:$_text in
    equals:*)
        # Every byte may have been a newline with a carriage return.
        if [ "$(wc -c <"$_f")" -le $((2 * ${#_text} + 8)) ]; then
            _a=$(sed "s/$_cr\$//" <"$_f")
            _b=$(printf '%s\n' "$_text" | sed "s/$_cr\$//")
            _x=$(tail -c 2 "$_f" | tr '\n\000' 'nx')
            # One newline at the end does not count, a second one does.
            _y=${_text%"$_nl"}
            _n=$(tr -dc '\n' <"$_f" | wc -c)
            case $_x in *n) _n=$((_n - 1)) ;; esac
            _m=$(printf %s "$_y" | tr -dc '\n' | wc -c)
            if [ "$_a" = "$_b" ] && [ "$_n" -eq "$_m" ]; then
                _count 1 1
                return
            fi
        fi
        _count 0 0
        ;;
    contains:*"$_nl"*)
        _s=$(sed "s/$_cr\$//" <"$_f" | tr -d '\001' | _NEEDLE=$_text _END=$(tail -c 1 "$_f" | wc -l) awk '
            function check(i,   k) {
                if (i < free) return
                a = line[i % (n + 1)]
                if (length(a) - length(part[1]) < ((i == free) ? room : 0)) return
                if (substr(a, length(a) - length(part[1]) + 1) != part[1]) return
                for (k = 1; k < n; k++) if (line[(i + k) % (n + 1)] != part[k + 1]) return
                if (substr(line[(i + n) % (n + 1)], 1, length(part[n + 1])) != part[n + 1]) return
                count++; if (!first) first = i
                free = i + n; room = length(part[n + 1])
            }
            BEGIN { n = split(ENVIRON["_NEEDLE"], part, "\n") - 1; free = 1; room = 0 }
            { line[NR % (n + 1)] = $0; if (NR > n) check(NR - n) }
            END { if (ENVIRON["_END"] + 0) { line[(NR + 1) % (n + 1)] = ""; if (NR + 1 > n) check(NR + 1 - n) }
                print count + 0, first + 0 }')
        # shellcheck disable=SC2086
        _count $_s
        ;;
    contains:*) _grep -F "$_text" "$_f" ;;
    matches:*)
        if _ere "$_text"; then
            _grep -E "$_ere" "$_f"
        else
            _json "$_error"
            printf '{"error":%s}' "$_j"
        fi
        ;;
    esac
}

# _grep -F|-E PATTERN FILE
_grep() {
    _n=$(printf '%s\n' "$2" | grep -a -c "$1" -f /dev/stdin "$3")
    _m=0
    if [ "${_n:-0}" -gt 0 ]; then
        _m=$(printf '%s\n' "$2" | grep -a -n -m 1 "$1" -f /dev/stdin "$3" | head -n 1)
        _m=${_m%%:*}
    fi
    _count "${_n:-0}" "$_m"
}

# _ere PATTERN: _ere is Python's regular expression as an extended one of POSIX; where there is none, _error says why.
_ere() {
    _rest=$1
    _ere=
    _in=
    _no=
    _error=
    case $_rest in
    *"$_nl"*) _no="a newline" ;;
    esac
    while [ -n "$_rest" ] && [ -z "$_no" ]; do
        _c=${_rest%"${_rest#?}"}
        _rest=${_rest#?}
        case $_in$_c in
        \\)
            _c=${_rest%"${_rest#?}"}
            _rest=${_rest#?}
            case $_c in
            d) _ere="${_ere}[0-9]" ;;
            D) _ere="${_ere}[^0-9]" ;;
            w) _ere="${_ere}[A-Za-z0-9_]" ;;
            W) _ere="${_ere}[^A-Za-z0-9_]" ;;
            s) _ere="${_ere}[[:space:]]" ;;
            S) _ere="${_ere}[^[:space:]]" ;;
            b) _ere="$_ere\\b" ;;
            A) _ere="$_ere^" ;;
            Z) _ere="$_ere$_cr?\$" ;;
            t) _ere="$_ere$(printf '\t')" ;;
            [a-zA-Z0-9]) _no="\\$_c" ;;
            [!a-zA-Z0-9]) case $_c in
                [].[\*+?{}\|^\$\(\)\\]) _ere="$_ere\\$_c" ;;
                *) _ere=$_ere$_c ;;
                esac ;;
            *) _no="a backslash at its end" ;;
            esac
            ;;
        '$') _ere="$_ere$_cr?\$" ;;
        '(')
            case $_rest in
            '?:'*) _rest=${_rest#??} ;;
            '?'*) _no="(${_rest%"${_rest#??}"}" ;;
            esac
            _ere="$_ere("
            ;;
        [*+?}])
            _ere=$_ere$_c
            # Whether it takes as much or as little as possible does not change whether it is found.
            case $_rest in
            '?'*) _rest=${_rest#?} ;;
            +*) _no="$_c+" ;;
            esac
            ;;
        '[')
            _in=b
            _set='['
            case $_rest in
            ^*) _set='[^' _rest=${_rest#?} ;;
            esac
            case $_rest in
            ']'*) _set="$_set]" _rest=${_rest#?} ;;
            esac
            ;;
        b']')
            # A backslash is a character like any other in a set of POSIX.
            _ere="$_ere$_set]"
            _in=
            ;;
        b\\)
            _c=${_rest%"${_rest#?}"}
            _rest=${_rest#?}
            case $_c in
            d) _set="${_set}0-9" ;;
            w) _set="${_set}A-Za-z0-9_" ;;
            s) _set="${_set}[:space:]" ;;
            t) _set="$_set$(printf '\t')" ;;
            '[' | '.' | '/' | '$' | '*' | '+' | '?' | '{' | '}' | '(' | ')' | '|' | ',' | ':' | '=' | ' ' | '"' | "'" | '%' | '_' | '@' | '#' | '&' | '~' | '<' | '>' | '!' | ';') _set=$_set$_c ;;
            \\) _set="$_set\\\\" ;;
            ']') case $_set in '[' | '[^') _set="$_set]" ;; *) _no="\\] inside of [...]" ;; esac ;;
            -) case $_rest in ']'*) _set="$_set-" ;; *) _no="\\- inside of [...]" ;; esac ;;
            *) _no="\\$_c inside of [...]" ;;
            esac
            ;;
        b'[') case $_rest in [.:=]*) _no="[${_rest%"${_rest#?}"} inside of [...]" ;; *) _set="$_set[" ;; esac ;;
        b[!\ -~]) _no="a character beyond ASCII inside of [...]" ;;
        b?) _set=$_set$_c ;;
        *) _ere=$_ere$_c ;;
        esac
    done
    [ -z "$_in" ] || [ -n "$_no" ] || _error="the pattern '$1' is not a regular expression: a [ is not closed"
    [ -z "$_no" ] || _error="the pattern '$1' has $_no, which a host without Python does not know"
    [ -z "$_error" ] || return 1
    # What a grep says of a pattern that is none is the same everywhere in this alone, that it says something.
    if [ -n "$(printf '%s\n' "$_ere" | grep -E -f /dev/stdin "$_d/agent" 2>&1 >/dev/null)" ]; then
        _error="the pattern '$1' is not a regular expression"
        return 1
    fi
}

# _slice RUN ID STREAM MODE FIRST LAST BEFORE AFTER MAX_LINES MAX_BYTES LINE_BYTES
_slice() {
    case $3 in
    stdout) _file=$_d/o$1 ;;
    *) _file=$_d/e$1 ;;
    esac
    if [ ! -e "$_file" ]; then
        eval "_s=\$_why$1"
        [ -n "$_s" ] || { _refuse "$2" storage "the captured output is not there any more"; return 0; }
        _file=/dev/null
    fi
    _size=$(wc -c <"$_file")
    _total=0
    [ ! -s "$_file" ] || read -r _total <"$_file.n" || return 0
    if [ "$4" = bytes ] || [ "$4" = packed ]; then
        _n=$(($6 - $5))
        [ "$_n" -le "${10}" ] || _n=${10}
        [ "$_n" -le $((_size - $5)) ] || _n=$((_size - $5))
        [ "$_n" -ge 0 ] || _n=0
        _x=0
        [ "$4" = bytes ] || _x=$((1 + $(head -c "$5" "$_file" | tr -cd '\n' | wc -c)))
        _p=$_n
        if [ "$4" = packed ] && [ "$_n" -gt 100 ] && command -v gzip >/dev/null 2>&1; then
            tail -c +$(($5 + 1)) "$_file" | head -c "$_n" | gzip -c >"$_d/a$2.z" && _p=$(wc -c <"$_d/a$2.z")
        fi
        if [ "$_p" -gt 0 ] && [ "$_p" -lt "$_n" ]; then
            printf '{"t":"slice","id":%s,"total":%s,"more":0,"lines":[[%s,%s,0]],"unpacked":%s,"payload":%s}\n' \
                "$2" "$_total" "$_x" "$_n" "$_n" $((_p))
            cat "$_d/a$2.z"
        else
            printf '{"t":"slice","id":%s,"total":%s,"more":0,"lines":[[%s,%s,0]],"payload":%s}\n' \
                "$2" "$_total" "$_x" "$_n" "$_n"
            [ "$_n" = 0 ] || tail -c +$(($5 + 1)) "$_file" | head -c "$_n"
        fi
        rm -f "$_d/a$2.z"
        return 0
    fi
    _from=1 _to=0 _tail=0
    case $4 in
    head) _to=${9} ;;
    tail) _from=$((_total - $9 + 1)) _to=$_total _tail=1 ;;
    lines) _from=$5 _to=$6 ;;
    match)
        _ere "$_pattern" || return 1
        _plain "$_file"
        printf '%s\n' "$_ere" | grep -a -n -E -f /dev/stdin "$_f" | sed 's/:.*//' |
            awk -v b="$7" -v a="$8" -v t="$_total" '{
                from = $1 - b; if (from <= last) from = last + 1; to = $1 + a; if (to > t) to = t
                for (i = from; i <= to; i++) if (i > 0) { print i; last = i } }' >"$_d/a$2.m"
        ;;
    esac
    [ "$_from" -ge 1 ] || _from=1
    [ "$_to" -le "$_total" ] || _to=$_total
    # The plan: first the answer's own line, then the places of the bytes that it has.
    [ "$4" != salient ] || _plan=$(_groups "$2" "$_total" "$9" "${10}" "${11}" <"$_file")
    [ "$4" = salient ] || _plan=$({
        [ "$4" != match ] || cat "$_d/a$2.m"
        echo .
        [ ! -s "$_file" ] || tr -c '\n' x <"$_file"
    } | awk -v id="$2" -v from="$_from" -v to="$_to" -v tail="$_tail" -v match_="$([ "$4" != match ] || echo 1)" \
        -v lines="$9" -v bytes="${10}" -v keep="${11}" -v total="$_total" '
        BEGIN { if (keep + 0 > bytes + 0) keep = bytes; keep += 0; bytes += 0; lines += 0 }
        !started { if ($0 == ".") started = 1; else wanted[$0] = 1; next }
        {
            number++; size = length($0); at = offset; offset += size + 1
            if (match_ ? !(number in wanted) : (number < from || number > to)) { if (!match_ && number > to) exit; next }
            here = size < keep ? size : keep
            if (!tail && (more || n >= lines || sum + here > bytes)) { more++; next }
            n++; num[n] = number; len[n] = here; cut[n] = size - here; start[n] = at; sum += here
        }
        END {
            if (!tail && !match_ && more) more = to - num[n] 
            if (!tail && !match_ && !n && to >= from) more = to - from + 1
            first = 1
            while (tail && sum > bytes && first < n) { sum -= len[first]; first++; more++ }
            printf "{\"t\":\"slice\",\"id\":%s,\"total\":%s,\"more\":%d,\"lines\":[", id, total, more
            for (i = first; i <= n; i++) printf "%s[%d,%d,%d]", (i > first ? "," : ""), num[i], len[i], cut[i]
            printf "],\"payload\":%d}\n", sum
            for (i = first; i <= n; i++) {
                j = i
                while (!cut[j] && j < n && num[j + 1] == num[j] + 1) j++
                printf "%d %d\n", start[i] + 1, start[j] + len[j] - start[i]
                i = j
            }
        }')
    printf '%s\n' "${_plan%%"$_nl"*}"
    case $_plan in
    *"$_nl"*)
        printf '%s\n' "${_plan#*"$_nl"}" | while read -r _from _n; do
            [ "$_n" = 0 ] || tail -c "+$_from" "$_file" | head -c "$_n" | tr -d '\n'
        done
        ;;
    esac
    rm -f "$_d/a$2.m"
}

# _groups ID TOTAL MAX_LINES MAX_BYTES LINE_BYTES: the plan of an answer with the shapes of the lines that come. Lines are
# alike but for digits; when there are too many shapes, those of one or two lines become alike but for their words, and
# where that is not enough but for the words that speak of trouble. The last of these are the kinds: a line of a kind is
# never a shape of its own again.
_groups() {
    tr '\000-\011\013-\037\177-\377' ' ' | awk -v id="$1" -v total="$2" -v lines="$3" -v bytes="$4" -v keep="$5" '
        function alert(key) {
            key = tolower(key)
            if (match(key, trouble)) return substr(key, RSTART, RLENGTH)
            return ""
        }
        function coarse(key, word) {
            word = alert(key)
            if (level > 1) return word " ?"
            gsub(/[A-Za-z]+/, "a", key)
            return word " " key
        }
        function add(g, number, at, size, n, end) {
            if (!(g in count)) { groups++; first[g] = number; where[g] = at; long[g] = size; count[g] = 0; bad[g] = alert(g) }
            else if (number < first[g]) { first[g] = number; where[g] = at; long[g] = size }
            count[g] += n
            if (last[g] < end) last[g] = end
        }
        function condense(g, c, i, n, few) {
            level++
            for (g in count) if (count[g] < 3 || level > 1) { few[++n] = g; c = coarse(g); size_of[c]++ }
            for (i = 1; i <= n; i++) {
                g = few[i]; c = coarse(g)
                if (size_of[c] < 3 && level < 2 || c == g) continue
                kind[c] = 1
                add(c, first[g], where[g], long[g], count[g], last[g])
                delete count[g]; delete first[g]; delete last[g]; delete where[g]; delete long[g]; delete bad[g]
                groups--
            }
            for (c in size_of) delete size_of[c]
            if (groups > most / 2 && level < 2) condense()
        }
        function better(g, b, turn) {
            if (turn % 4 == 0 || turn % 4 == 2) { if ((bad[g] != "") != (bad[b] != "")) return bad[g] != "" }
            if (turn % 4 == 0 || turn % 4 == 1) { if (count[g] != count[b]) return count[g] > count[b] }
            else if (count[g] != count[b]) return count[g] < count[b]
            return turn % 8 < 4 ? first[g] < first[b] : first[g] > first[b]
        }
        BEGIN {
            most = 1000; level = 0; if (keep + 0 > bytes + 0) keep = bytes; keep += 0; bytes += 0; lines += 0
            trouble = "error|fail|fatal|panic|except|corrupt|critical|denied|refused|timeout|killed|abort|emerg|warn|unable|cannot|lost|dead"
        }
        {
            number++; size = length($0); at = offset; offset += size + 1
            key = size > 1000 ? substr($0, 1, 700) " " substr($0, size - 299) : $0
            # In a log of requests the class of an answer is all that tells them apart.
            if (index(key, "HTTP/")) { gsub(/" 5/, " server-error ", key); gsub(/" 4/, " client-error ", key) }
            gsub(/0x[0-9a-f]+|[0-9]+[0-9a-f]*/, "", key)
            if (!(key in count)) {
                if (level) { c = coarse(key); if (c in kind || level > 1) { key = c; kind[c] = 1 } }
                if (!(key in count) && groups >= most) {
                    condense()
                    c = coarse(key)
                    if (c in kind || level > 1) { key = c; kind[c] = 1 }
                }
            }
            add(key, number, at, size, 1, number)
        }
        END {
            for (turn = 0; n < lines && n < groups; turn++) {
                b = ""; found = 0
                for (g in count) if (!(g in taken) && (!found || better(g, b, turn))) { b = g; found = 1 }
                if (!found) break
                here = long[b] < keep ? long[b] : keep
                if (sum + here > bytes) break
                taken[b] = 1; sum += here; n++
                for (i = n; i > 1 && first[list[i - 1]] > first[b]; i--) list[i] = list[i - 1]
                list[i] = b
            }
            for (g in count) if (!(g in taken)) { more += count[g]; shapes++ }
            printf "{\"t\":\"slice\",\"id\":%s,\"total\":%s,\"more\":%d,\"shapes\":%d,\"lines\":[", id, total, more, shapes
            for (i = 1; i <= n; i++) {
                g = list[i]; head[i] = long[g]; end = 0
                if (long[g] > keep) { end = int(keep / 3); head[i] = keep - end }
                tail[i] = end
                printf "%s[%d,%d,%.0f,%d,%d,%d]", (i > 1 ? "," : ""), first[g], head[i], long[g] - head[i] - end, end, count[g], last[g]
            }
            printf "],\"payload\":%d}\n", sum
            for (i = 1; i <= n; i++) {
                g = list[i]
                printf "%.0f %d\n", where[g] + 1, head[i]
                if (tail[i]) printf "%.0f %d\n", where[g] + long[g] - tail[i] + 1, tail[i]
            }
        }'
}

# --- beginning and end ------------------------------------------------------------------------------------------------

_directory() {
    _uid=$(id -u)
    for _s in "${XDG_RUNTIME_DIR-}" /dev/shm /var/tmp /tmp "${HOME-}"; do
        case $_s in
        *[\'"$_nl"]*) continue ;;
        /*)
            for _x in "$_s/checkrunner-$_uid-"*; do
                _p=${_x##*/checkrunner-"$_uid"-}
                # Of an agent like this one that has not ticked for a minute; its number may be one of another namespace.
                if [ -O "$_x" ] && [ -n "$(find "$_x/beat" -mmin +1 2>/dev/null)" ] &&
                    ! kill -0 "${_p%%-*}" 2>/dev/null; then
                    rm -rf "$_x"
                fi
            done
            ;;
        *) continue ;;
        esac
        _x=$_s/checkrunner-$_uid-$$-$_random
        # A disk that is full makes directories, but keeps nothing in them.
        [ -z "$_d" ] || continue
        if (umask 077 && mkdir "$_x" && echo "$$" >"$_x/agent" && [ -s "$_x/agent" ] && : >"$_x/shells" &&
            : >"$_x/lock" && mkfifo "$_x/ev" "$_x/go") 2>/dev/null; then
            _d=$_x
        elif [ -O "$_x/." ]; then
            rm -rf "$_x"
        fi
    done
    [ -n "$_d" ] || {
        _refuse 0 storage "no directory can hold captures: tried \$XDG_RUNTIME_DIR, /dev/shm, /var/tmp, /tmp, \$HOME"
        exit 1
    }
    # Known to nobody else; the name of the directory everyone can read.
    _token=$_uid-$$-$(od -An -N8 -tx1 /dev/urandom 2>/dev/null | tr -d ' \n')
}

# _fence: who is never killed, whatever else may be wrong: this process, and those that it descends from.
_ancestors() {
    _fence=" 0 1 2 $$ "
    _p=$$
    while _stat "$_p"; do
        _p=$_pp
        case $_fence in
        *" $_p "*) break ;;
        esac
        _fence="$_fence$_p "
    done
}

# _look_around: _proc is where processes are told of; nowhere, if the numbers there are those of another namespace.
_look_around() {
    _proc=/proc
    _x=
    read -r _x _rest 2>/dev/null </proc/self/stat
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^NSpid://p' /proc/self/status 2>/dev/null)
    if [ "$_x" != "$$" ] || [ $# -gt 1 ]; then _proc=/dev/null; fi
}

_reader() {
    trap - HUP INT TERM PIPE
    while read -r _s <&4 && [ "$_s" = go ]; do
        while :; do
            IFS= read -r _line <&5 || { echo e >&3; return; }
            [ -z "$_line" ] || break
        done
        if [ "${#_line}" -gt "$_PIPE_BUF" ]; then
            printf '%s\n' "$_line" >"$_d/header"
            echo Q >&3
        else
            printf 'q %s\n' "$_line" >&3
        fi
    done
}

# Every second an event, and somebody who notices that main is gone.
_ticker() {
    trap - HUP INT TERM
    trap '' PIPE
    exec 3>&-
    exec 3>"$_d/ev"
    _parent='' _wanted=0
    ! _stat self || _parent=$_pp
    while echo k >&3; do
        : >"$_d/beat"
        # An agent in Python takes a directory whose lock is empty and young for one that is being made.
        : >"$_d/lock"
        (trap - PIPE; exec sleep 1 3>&-)
        if [ -d "$_d/wanted" ]; then
            # Main may hang at an output that nobody takes any more.
            [ "$_wanted" -lt 3 ] || break
            _wanted=$((_wanted + 1))
            echo e >&3
        fi
        # Others of us still have the FIFO open, for both.
        if [ -z "$_parent" ]; then
            kill -0 "$$" || break
        else
            _stat self && [ "$_pp" = "$_parent" ] || break
        fi
    done 2>/dev/null
    _clear_up
}

# What is told in the file of shells: _sids of those that live, _past of those that do not.
_past_shells() {
    _moment
    _end=$_born
    _past=' ' _ended=' '
    while read -r _p _x _b; do
        if [ -n "$_b" ]; then
            _past="$_past$_p:$_b "
            _ended="$_ended$_p:$_x "
        fi
    done <"$_d/shells"
    while read -r _p _x _b; do
        [ -z "$_b" ] || continue
        case $_ended in *" $_p:$_x "*) continue ;; esac
        if _stat "$_p" && [ "$_born" = "$_x" ]; then _sids="$_sids$_p "; else _past="$_past$_p:$_end "; fi
    done <"$_d/shells"
}

_clear_up() {
    : >"$_d/over"
    # shellcheck disable=SC2086
    _stop $_keepers
    for _how in TERM KILL; do
        _marked "$_token." all
        _tree=' '
        for _p in $_found; do _tree="$_tree$_p "; done
        _sids=$_tree
        _past_shells
        _grow
        [ "$_tree" != ' ' ] || [ "$_proc" != /proc ] || break
        # shellcheck disable=SC2086
        set -- $_tree
        # Where nothing is told of processes, there are still the shells.
        _n=0
        while [ "$_proc" != /proc ] && [ "$_n" -lt "$_sessions" ]; do
            _n=$((_n + 1))
            eval "set -- \"\$@\" \$_shell$_n"
        done
        _signal "$_how" "$@"
        [ "$_how" = KILL ] || _signal CONT "$@"
        _n=0
        while [ "$_n" -lt 5 ] && [ "$_how" = TERM ]; do
            _n=$((_n + 1))
            _x=
            for _s; do
                if _stat "$_s" && [ "$_st" != Z ]; then _x=1; fi
            done
            [ -n "$_x" ] || break
            if [ -n "$_fractions" ]; then sleep 0.1; else sleep 1; fi
        done
    done
    echo over 1<>"$_d/go"
    # Who wrote a file there at this very moment is ended by now, or about to be.
    for _s in 1 2 3 4 5; do
        for _x in "$_d"/*; do _release "$_x"; done
        ! rm -rf "$_d" 2>/dev/null || break
    done
}

_leave() {
    [ "$_leaving" = end ] || printf '{"t":"bye","id":%s}\n' "$_leaving" >"$_d/bye"
    _finish
}

_finish() {
    trap '' HUP INT TERM PIPE
    # shellcheck disable=SC2086
    _stop $_helpers
    # shellcheck disable=SC2086
    wait $_helpers 2>/dev/null
    _bye=
    [ ! -e "$_d/bye" ] || read -r _bye <"$_d/bye"
    exec 3>&- 4>&- 2>/dev/null
    _clear_up
    [ -z "$_bye" ] || printf '%s\n' "$_bye"
    exit 0
}

_event() {
    case $1 in
    q) _request "$_rest" ;;
    Q)
        IFS= read -r _rest <"$_d/header"
        rm -f "$_d/header"
        if [ "${#_rest}" -ge 65536 ]; then _fatal bad_request "a header of more than 65536 bytes"; fi
        _request "$_rest"
        ;;
    e)
        _leaving=end
        _finish
        ;;
    k)
        # Should something else end our reader, nobody tells us of the end of our input.
        if [ "$_proc" = /proc ] && { ! _stat "${_helpers%% *}" || [ "$_st" = Z ]; }; then
            _leaving=end
            _finish
        fi
        _now
        _s=0
        while [ "$_s" -lt "$_sessions" ]; do
            _s=$((_s + 1))
            eval "_run=\$_run$_s"
            eval "_q=\$_queue$_s _x=\$_ready$_s _b=\$_boot$_s"
            if [ -z "$_x" ] && [ -n "$_q$_run" ] && [ "$_t" -ge $((_b + 500)) ]; then
                # Perhaps the word that it is there is only on its way.
                echo "v $_s $_b" >&3
            fi
            [ -n "$_run" ] || continue
            eval "_x=\$_by$_run _p=\$_phase$_run _e=\$_told$_run _u=\$_dur$_run"
            if [ "$_p" = running ] && [ -z "$_e" ] && [ "$_t" -ge "$_x" ]; then
                _at=$_s
                if [ "$_u" -gt 0 ] && [ "$_u" -le "$((_limit$_run))" ]; then _end "$_run" done; else _end "$_run" timed_out; fi
                _s=$_at
            elif [ "$_p" = running ] && [ -n "$_e" ] && [ "$_t" -ge "$((_took$_run + 100))" ]; then
                # Somebody whom we do not know holds an output.
                _at=$_s
                _drained "$_run" 0
                _s=$_at
            fi
        done
        ;;
    b)
        _is_process "$3" || return 0
        _born=
        _stat "$3" || :
        eval "_ready$2=1 _shell$2=$3 _born$2=$_born"
        echo "$3 $_born" >>"$_d/shells"
        _next "$2"
        ;;
    v)
        _now
        eval "_x=\$_ready$2 _b=\$_boot$2"
        if [ -z "$_x" ] && [ "$_b" = "$3" ]; then _never_up "$2"; fi
        ;;
    z) _give_up "$2" ;;
    y) eval "_cwd$2=\${_rest#* }" ;;
    d)
        _s=
        [ $# -eq 4 ] || _s=${_rest#* * * }
        _heard "$3" "$4" "$_s"
        ;;
    m) eval "_missing$3=\"\$_missing$3\${_rest#* * }\$_nl\"" ;;
    n) _never "$3" "$4" ;;
    p) eval "_cat_$3$2=$4" ;;
    c)
        eval "_done_$3$2=\$4 _p=\${_phase$2-} _e=\$_told$2"
        # 153 is SIGXFSZ. The command is ended that goes on writing.
        if [ "$4" != 0 ] && [ "$_p" = running ] && [ -z "$_e" ]; then
            eval "_s=\$_cap$2 _x=\${_hc$2}"
            [ "$(wc -c <"$_d/$3$2")" -le "$_s" ] || _end "$2" killed "${_x:+host_}capped"
        fi
        _settled "$2"
        ;;
    w) _drained "$2" "$3" ;;
    g) _force "$2" "$3" ;;
    u)
        eval "_s=\${_ses$3-} _doubt$3="
        [ "$_s" != "$2" ] || _settled "$3"
        ;;
    x) _died "$2" "$3" "$4" "$5" ;;
    a)
        cat "$_d/a$2"
        rm -f "$_d/a$2"
        ;;
    r)
        cat "$_d/a$2"
        rm -f "$_d/a$2"
        _left=$((_left - ${4:-0}))
        [ "${4:-0}" = 0 ] || _holding="$_holding $2:$4"
        eval "_p=\$_phase$2 _phase$2=over _x=\$_waiting$2 _waiting$2="
        for _s in $_x; do _start_slice "$2" "$_s"; done
        eval "_x=\$_run$3"
        if [ "$_p" = over_soon ] && [ "$_x" = "$2" ]; then
            _running=$((_running - 1))
            eval "_run$3="
            [ -n "$_leaving" ] || _next "$3"
            _cancelled
            if [ -n "$_leaving" ] && [ "$_running" = 0 ]; then _leave; fi
        fi
        ;;
    esac
}

_main() {
    _d='' _hello='' _leaving='' _cancels='' _keepers='' _helpers='' _sessions=0 _running=0 _left=0 _most=16 _error=''
    _capped='' _holding=
    _lc=${LC_ALL+x}${LC_ALL-}
    LC_ALL=C
    export LC_ALL
    unset IFS
    _s=
    for _x in dd tr wc awk sed grep head tail cat sleep rm mv mkdir mkfifo od id uname date xargs; do
        command -v $_x >/dev/null 2>&1 || _s="$_s $_x"
    done
    if [ -n "$_s" ]; then
        _refuse 0 no_tools "the host has neither Python 3.6 nor the programs that the shell agent needs:$_s"
        exit 1
    fi
    _random=$(od -An -N6 -tx1 /dev/urandom 2>/dev/null | tr -d ' \n')
    _random=${_random:-$$$(date +%s)}
    _now
    _epoch=$(($(date +%s) * 100 - _t))
    _lacks='states prompts tty sample keep stay archive memory linger python_patterns'
    _fractions=
    sleep 0.01 2>/dev/null && _fractions=1
    _fullblock=
    [ "$(echo ab | dd bs=2 count=1 iflag=fullblock 2>/dev/null)" != ab ] || _fullblock=1
    _sha=
    if command -v sha256sum >/dev/null 2>&1; then _sha=1; else _lacks="$_lacks digest"; fi
    _setsid=
    if command -v setsid >/dev/null 2>&1; then _setsid=setsid; fi
    _hertz=$(getconf CLK_TCK 2>/dev/null) || _hertz=100
    _hertz=${_hertz:-100}
    _bash_version='' _shell='' _shell_options=
    _s=$(command -v bash) && case $_s in
    /*)
        # shellcheck disable=SC2016
        _bash_version=$("$_s" --norc --noprofile -c 'echo "${BASH_VERSION%%[!0-9.]*}"' 2>/dev/null)
        [ -z "$_bash_version" ] || _shell=bash _shell_options='--norc --noprofile'
        ;;
    esac
    _begin_snap="\\command echo '#begin @'"
    if [ -n "$_shell" ]; then
        _snap="{ $_begin_snap; shopt -p; declare -p; declare -f; alias -p; umask -p; trap -p; \\command set +o; \\command echo '#end @'; }"
    else
        _shell=sh
        _lacks="$_lacks bash functions aliases"
        _snap="{ $_begin_snap; \\command set; \\command export -p; \\command readonly -p; \\command printf 'umask '; \\command umask -S; \\command trap; \\command set +o; \\command echo '#end @'; }"
    fi
    _directory
    _x=$_snap _snap=
    while :; do
        case $_x in
        *@*)
            _snap=$_snap${_x%%@*}$_token
            _x=${_x#*@}
            ;;
        *) break ;;
        esac
    done
    _snap=$_snap$_x
    _look_around
    _ancestors
    exec 5<&0 </dev/null 3<>"$_d/ev" 4<>"$_d/go"
    exec 2>/dev/null
    _umask=$(umask)
    umask 077
    trap _finish HUP INT TERM PIPE
    _reader >/dev/null &
    _helpers=$!
    _ticker </dev/null >/dev/null 4>&- 5>&- &
    _helpers="$_helpers $!"
    echo go >&4
    while IFS= read -r _line <&3; do
        _rest=${_line#* }
        set -f
        # shellcheck disable=SC2086
        set -- $_line
        set +f
        _event "$@"
        case $1 in
        [qQ]) [ -n "$_leaving" ] || echo go >&4 ;;
        esac
    done
}

_main
