# What the agent says to a session's bash. It is never installed and never run as a file: the agent cuts it at the
# lines that begin with "#:", drops the comments, fills in the @WORDS@, and writes the parts into the pipe that bash
# reads its script from. bash reads a pipe byte by byte, so what is said for every command is kept short.
#
# Rules that hold for every line here, because a check may have changed anything before it:
#
# * A command is called as `\builtin NAME`: the backslash keeps aliases away, `builtin` keeps functions away. A function
#   called `builtin` itself, or `enable -n`, is what the part `repair` is for.
# * Otherwise only what bash does without looking a name up: redirections, assignments, [[ ]], { }.
# * Nothing may fail outside of a condition (set -e, an ERR trap), expand a name that may be unset (set -u), split or
#   glob (IFS, nullglob, failglob), or write to the check's outputs.
# * Nothing of ours lives where a check can remove it: no functions, no descriptors, one readonly variable.
# * Descriptor 19 is opened for one command and put back by bash, so a check may use 19 for itself. For reading too: to
#   open a FIFO for writing only blocks for ever once the agent was killed.

#:report
# The whole state as NUL-separated fields; the agent's FIELDS names them in this order. The text is kept in a readonly
# variable and run by `eval` with 19 opened on the report pipe. Not standard output: a DEBUG trap of the check runs
# between these commands, and what it prints must not land among the fields. `|| [[ 1 ]]` makes the whole a condition,
# so that neither set -e nor an ERR trap sees a failure in it.
{
\builtin printf '%s\0' checkrunner-report "$__checkrunner_rc" "$BASH_VERSION" "${PWD-}" "${OLDPWD+x$OLDPWD}" "$-" >&19
\builtin trap -p EXIT >&19; \builtin printf '\0' >&19
\builtin set +o >&19; \builtin printf '\0' >&19
\builtin shopt -p >&19; \builtin printf '\0' >&19
\builtin declare -p >&19; \builtin printf '\0' >&19
\builtin declare -f >&19; \builtin printf '\0' >&19
\builtin declare -F >&19; \builtin printf '\0' >&19
\builtin alias -p >&19; \builtin printf '\0' >&19
\builtin trap -p >&19; \builtin printf '\0' >&19
\builtin umask -p >&19; \builtin printf '\0' >&19
\builtin printf '%q ' "${DIRSTACK[@]-}" >&19; \builtin printf '\0' >&19
\builtin printf ' %q' "$@" >&19; \builtin printf '\0end\0' >&19
} || [[ 1 ]]

#:exit
# The EXIT trap: the last words of a shell that a check ends with `exit`, `set -e`, a fatal expansion or a signal.
# What is said into a FIFO that nobody reads fills it and then blocks, hence the look whether the agent still lives. The
# check's own EXIT trap, where it was kept for us by the part `trap`, runs last, with the status that the check would see
# in `$?`.
__checkrunner_rc="x $?"
[[ -d /proc/@AGENT@ ]] && \builtin eval "$__checkrunner_report" 19<>@REPORT@ 2>/dev/null || [[ 1 ]]
if [[ ${__checkrunner_trap-} ]]; then
\builtin set +e
( \builtin exit "${__checkrunner_rc#x }" )
\builtin eval "$__checkrunner_trap"
fi

#:start
# bash was started with -m: each foreground pipeline becomes a process group of its own and owns the terminal, so that
# a timeout hits the pipeline and not the shell, and a stopped process does not stop the shell.
\builtin readonly __checkrunner_report=@REPORT_TEXT@
\builtin trap @EXIT_TEXT@ EXIT
\builtin cd -- @CWD@ 2>/dev/null
\builtin unset OLDPWD

#:arm
\builtin trap @EXIT_TEXT@ EXIT

#:run
# The first line makes the check's first line number 1 in error messages. An assignment to LINENO does not last (bash
# puts the number back after a simple command), but it lasts in the redirection of a compound command.
#
# `eval` stands at the top level: in a function, the check's `declare` would be local; in a loop, its `break` would
# end the loop; in a subshell, nothing would persist. Its redirections are undone by bash itself, even after an
# `exec >file` in the check. FIFOs are exempt from noclobber. A syntax error ends this eval, not the script.
{ [[ 1 ]]; } 2>/dev/null <"/dev/null${0:LINENO=0:0}"
@EVAL@ @TEXT@ <@IN@ >@OUT@ 2>@ERR@
__checkrunner_rc="@SEQ@ $?"
\builtin eval "$__checkrunner_report" 19<>@REPORT@ 2>/dev/null

#:say
# The same report after lines that the agent put together for the occasion.
__checkrunner_rc="@SEQ@ 0"
\builtin eval "$__checkrunner_report" 19<>@REPORT@ 2>/dev/null

#:again
\builtin eval "$__checkrunner_report" 19<>@REPORT@ 2>/dev/null

#:repair
# A report pipe that was opened and closed with nothing said in it: redirections work without any name, so this is
# how a shell looks in which `builtin` is a function, or a builtin that we need was disabled.
\unset -f builtin 2>/dev/null || [[ 1 ]]
\enable builtin 2>/dev/null || [[ 1 ]]
\unset -f enable 2>/dev/null || [[ 1 ]]
\builtin enable eval printf trap declare set shopt alias umask unset readonly cd type exit 2>/dev/null || [[ 1 ]]

#:trap
# Stands in the way of `trap ... EXIT` while a check runs whose text speaks of it: were our EXIT trap replaced, an
# `exit` in the same check would cost the session its state. In a subshell the real one is right. (After `\builtin`,
# `local` is a plain command whose arguments are split, hence the quotes around the assignment.)
trap() {
if [[ $BASH_SUBSHELL != 0 || $# -lt 2 || $1 == -[lp]* ]]; then \builtin trap "$@"; \builtin return; fi
if [[ $1 == -- ]]; then \builtin shift; fi
\builtin local "action=$1" name status=0
\builtin shift
for name; do
case $name in
0|EXIT|exit|Exit) if [[ $action == - ]]; then __checkrunner_trap=; else __checkrunner_trap=$action; fi ;;
*) \builtin trap -- "$action" "$name" || status=$? ;;
esac
done
\builtin return "$status"
}

#:untrap
# The check ended without leaving the shell: its EXIT trap runs now, as at the end of a script, into its own outputs.
# It forgets itself first, so that an `exit` in it does not run it again.
\builtin unset -f trap
if [[ ${__checkrunner_trap-} ]]; then
\builtin eval "__checkrunner_trap=
[[ \$- == *e* ]] || ( \builtin exit @STATUS@ )
$__checkrunner_trap" </dev/null >>@OUT@ 2>>@ERR@
fi
