# What the agent says to a session's shell where there is no bash: dash, busybox ash. The parts, and what holds for them,
# are those of wrapper.sh; what differs here:
#
# * `command` in the place of `builtin`. It keeps functions away; and with it an `eval` whose text has a syntax error, or
#   a redirection that fails, does not end the shell, as POSIX has it for special builtins. Those (eval, export, readonly,
#   set, trap, unset) cannot be functions here; so a function called `command` itself is all that `repair` is for.
# * Aliases are expanded in scripts, and the words of ours begin with a backslash against that.
# * Descriptors of two digits cannot be said. The report goes through 9, which the shell puts back.
# * A signal ends the shell without its EXIT trap. So INT and TERM have traps of ours, unless the check sets others. After
#   the last words the shell ends by that signal all the same.

#:report
# The fields are those of plain.py: FIELDS, then the number of positional parameters, these, and `end`.
{
\command printf '%s\0' checkrunner-report "$__checkrunner_rc" "${PWD-}" "${OLDPWD+x$OLDPWD}"
\set +o; \command printf '\0'
\set; \command printf '\0'
\export -p; \command printf '\0'
\readonly -p; \command printf '\0'
\command alias; \command printf '\0'
\trap; \command printf '\0'
\command umask
\command printf '\0%s\0' $#
\command printf '%s\0' ${1+"$@"} end
} >&9 || __checkrunner_rc=

#:exit
# See `exit` in wrapper.sh. These shells have put back the redirections of the check by then: its own EXIT trap gets its
# outputs anew.
__checkrunner_rc="x $?"
\command test -d /proc/@AGENT@ && \command eval "$__checkrunner_report" 9<>@REPORT@ 2>/dev/null || __checkrunner_rc="$__checkrunner_rc"
if \command test "${__checkrunner_trap-}"; then
\set +e
( \exit "${__checkrunner_rc#x }" )
\command eval "$__checkrunner_trap" </dev/null 1<>"$__checkrunner_out" 2<>"$__checkrunner_err"
fi
if \command test "${__checkrunner_end-}"; then
\trap - EXIT "$__checkrunner_end"
\command kill -s "$__checkrunner_end" $$
fi

#:start
\readonly __checkrunner_report=@REPORT_TEXT@
\trap @EXIT_TEXT@ EXIT
\trap '__checkrunner_end=INT; \exit 130' INT
\trap '__checkrunner_end=TERM; \exit 143' TERM
\command cd -- @CWD@ 2>/dev/null
\unset OLDPWD

#:arm
\trap @EXIT_TEXT@ EXIT

#:run
__checkrunner_out=@OUT@ __checkrunner_err=@ERR@
@EVAL@ @TEXT@ <@IN@ >@OUT@ 2>@ERR@
__checkrunner_rc="@SEQ@ $?"
\command eval "$__checkrunner_report" 9<>@REPORT@ 2>/dev/null

#:say
__checkrunner_rc="@SEQ@ 0"
\command eval "$__checkrunner_report" 9<>@REPORT@ 2>/dev/null

#:again
\command eval "$__checkrunner_report" 9<>@REPORT@ 2>/dev/null

#:repair
\unset -f command 2>/dev/null

#:trap
# `trap` cannot be a function here, but an alias for one. In a subshell, whose process is another one than `$$` says, the
# real one is right.
__checkrunner_trap() {
\command read -r __checkrunner_a </proc/self/stat
case "$# $__checkrunner_a" in [01]" "*) ;; "$# $$ "*) __checkrunner_a= ;; esac
if \command test "$__checkrunner_a"; then
\trap "$@"
\return
fi
if \command test "$1" = --; then \shift; fi
__checkrunner_a=$1
\shift
for __checkrunner_b in "$@"; do
case $__checkrunner_b in
0|EXIT) if \command test "$__checkrunner_a" = -; then __checkrunner_trap=; else __checkrunner_trap=$__checkrunner_a; fi ;;
*) \trap -- "$__checkrunner_a" "$__checkrunner_b" ;;
esac
done
}
\command alias trap=__checkrunner_trap

#:untrap
\command unalias trap
\unset -f __checkrunner_trap
if \command test "${__checkrunner_trap-}"; then
\command eval "__checkrunner_trap=
( \\exit @STATUS@ )
$__checkrunner_trap" </dev/null >>@OUT@ 2>>@ERR@
fi
