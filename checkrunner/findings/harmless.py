"""Names that speak of a secret without holding it, and values that are none: ``password_file=``, ``max_tokens=4096``,
``secret: (none)``, ``token=$TOKEN``."""

from __future__ import annotations

import re

__all__ = ["is_about", "is_harmless"]

# The last word of names of settings that are about a secret without holding it.
_ABOUT = re.compile(
    r"files?|filename|path|paths|dir|directory|url|urls|uri|endpoints?|address|types?|kind|counts?|len|length|size|bytes|bits"
    r"|ttl|timeout|age|days|hours|minutes|seconds|ms|time|date|at|on|since|interval|period|grace|delay|policy|history"
    r"|lifetime|expir\w*|min\w*|max\w*|chang\w*|updated|created|modified|used|usage|limit|limits|quota|names?"
    r"|authentication|auth|auths|required|requirements?|enabled|disabled|allowed|supported|reuse|bucket|rotation|rotated"
    r"|issuer|issued|audience|aud|refs?|id|ids|arn|prompt|prompts|wrong|status|state|valid|validity|validation|validator"
    r"|invalid|strength|score|quality|complexity|mode|format|encoding|algorithm|alg|method|cipher|fingerprint|version"
    r"|class|plugin|manager|manage|managed|store|backend|provider|service|server|host|port|group|owner|scope|scopes"
    r"|label|field|fields|column|table|attributes?|params?|parameters?|header|prefix|regex|pattern|hint|help|errors?"
    r"|fail\w*|attempts|tries|retries|requests?|exists?|present|missing|mounts?|volume|source|engine|projected"
    r"|of|rate|budget|second|minute|request|per|generator|generation|reset|recovery|set|not|is|has|handler|helper|command"
    r"|encryption|exceptions?|warnings?|denied|info|cmd|program|script|lookup|env|var|variable|placeholder|description|comment|title"
)
_WORDS = re.compile(r"[_. -]|(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:\s?[A-Za-z%]{1,7}(?:/s)?)?")
_NSS = re.compile(r"(?:(?:files|compat|sss|systemd|db|ldap|nis|nisplus|winbind|cache)\b\s*|\[[!\w= -]+\]\s*)+", re.I)
_KEYWORD = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|private|secret|auth)_?key)s?"
_HARMLESS = re.compile(
    # truth values, types, words in the place of a value
    r"(?i:true|false|yes|no|none|null|nil|undefined|unset|on|off|not|n/a|empty|optional|required|string|str|text|bytes|bool"
    r"|boolean|int|integer|number|object|any|redacted|hidden|masked|filtered|sensitive|removed|omitted|ok|present|missing"
    r"|set|unchanged|unlimited|never|default|inherit|ask|prompt|same-origin|include|omit|disabled|enabled)"
    r"|(?i:not set|sensitive value|known after apply)"
    r"|(?:str|bytes|String|Optional\[\w+\])\s*(?:\|\s*\w+\s*)?(?:=.*)?;?"
    # masks and dots
    r"|(?P<same>[^\w\s])(?P=same)*|(?i:x{3,})|\u2022+|\.\.\.+|[\W_]{1,3}"
    # brackets around a word that is no value
    r"|\(\s*[A-Za-z][\w ./-]*\s*\)|\[\s*[A-Za-z][\w ./-]*\s*\]|<[^<>]*>(?:\s.*)?|\|[+-]?|>[+-]?"
    # variables of shells, templates and formats
    r"|\$[A-Z_][A-Z0-9_]*|\$\{[\w.:/!]*(?::?[-=+]|:?\?[^}]*)?\}?|\$\(.*|\$\d|\{\{.*|\{[\w.]*\}|%\(\w+\)s|%[sdvq]|%\w+%|#\{.*|<%.*"
    rf"|[$:@](?:[A-Za-z]+_)*{_KEYWORD}"
    r"|\$\{\{.*|`.*`|@\{.*"
    # where the secret is, rather than itself
    r"|(?:env|file|vault|ssm|op|secret|keyring|keychain|aws-sm|gcp-sm|awssm|ref\+\w+|data\.\w+|kms|pass)://?\S*"
    r"|(?i:env|file|vault|ssm):[\w/.-]*[/_][\w/.#-]*"
    r"|arn:aws[\w-]*:(?:secretsmanager|ssm|kms|iam):\S*|projects/[\w-]+/secrets/\S*"
    r"|~?/(?:run|etc|var|home|opt|usr|tmp|root|srv|mnt|data|vault|secrets?|proc|dev|app|config|sys)(?:/[\w.@+-]+)+/?"
    r"|\.{1,2}/[\w./-]+|[\w./-]+\.(?:pem|key|crt|cer|txt|ya?ml|json|ini|conf|env|gpg|kdbx?|jks|p12|pfx|keytab)"
    # what is read, in code
    rf"|{_KEYWORD}|(?:[A-Za-z_]\w*\.)+_*(?:[A-Za-z]+_)*{_KEYWORD}(?:\[.*|\(.*)?"
    r"|(?:[A-Za-z_]\w*\.)+[a-z_]\w*\(.*|(?:get\w*|env|getenv|lookup|read\w*|load\w*|open|fetch\w*|generate\w*|prompt)\(.*"
    r"|(?:[A-Za-z_]\w*\.)+(?:environ|env|config|settings|get)\b.*|(?:var|local|module|data|each|self|this|args|opts|cfg)\.[\w.]+"
    r"|new [A-Z]\w*\(.*|function\b.*|lambda\b.*|async\b.*"
    # numbers of bytes, dates, digests of keys, public keys
    r"|\d+ (?:bytes?|chars?|characters?|items?|keys?|entries)|\d{4}-\d\d-\d\d(?:[T ]\S*)?(?: UTC)?"
    r"|(?:SHA256|MD5):[\w+/:=]+|(?:ssh-\w+|ecdsa-\S+|sk-ssh-\S+) AAAA.*|age1[a-z0-9]+"
    r"|[{\[]\s*(?:[\"'}\]].*)?",
    re.DOTALL,
)


def is_harmless(value: str) -> bool:
    """Whether the value is no secret, whatever its name: a placeholder, a truth value, a reference, a piece of code."""
    return _HARMLESS.fullmatch(value.strip()) is not None


def is_about(key: str, suffix: str, value: str) -> bool:
    """Whether the assignment is about a secret and holds none: a path, a number of tokens. `suffix` is what follows the
    word for a secret in the name."""
    last = _WORDS.split(suffix)[-1].lower()
    if _ABOUT.fullmatch(last):
        return True
    low = key.strip().lower()
    if low.endswith(("pwd", "passwd")) and value.startswith(("/", "~")):
        return True  # a working directory, or a path to the file of that name
    if low == "passwd" and _NSS.fullmatch(value):
        return True
    counted = (
        low == "pass"
        or low.endswith(("tokens", "passwords", "secrets", "credentials", "keys"))
        or (last and not last.isdigit() and not _holds(low))
    )
    return bool(counted) and _NUMBER.fullmatch(value.strip()) is not None


def _holds(key: str) -> bool:
    """Whether the suffix of the name is another word for what it holds: ``password_value``, ``secret_key_base``."""
    return key.endswith(("value", "key", "base", "hash", "plain", "string", "data", "old", "new", "current"))
