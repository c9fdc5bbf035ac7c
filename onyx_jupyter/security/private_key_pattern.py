"""The shape of a private key in PEM or PGP armor: only what can occur in one, so that nothing else is hidden.

Source: RFC 7468 (PEM), RFC 1421 section 4.6 (its headers), RFC 4880 section 6.2 (armor).
"""

from __future__ import annotations

from onyx_jupyter.security.pattern_parts import Alternatives, Literals, Repeat, Run
from onyx_jupyter.security.secret_pattern import SecretPattern
from onyx_jupyter.security.secret_values import private_key

_KINDS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")
_BEGIN = Literals((*(f"-----BEGIN {kind}PRIVATE KEY-----" for kind in _KINDS), "-----BEGIN PGP PRIVATE KEY BLOCK-----"))
_END = Literals((*(f"-----END {kind}PRIVATE KEY-----" for kind in _KINDS), "-----END PGP PRIVATE KEY BLOCK-----"))

# Line ends, also as JSON and Python write them, and what joins string literals in code.
_GAP = r"(?:[\s\"',+\\]|(?<=\\)[nrt])"
_BASE64 = "[A-Za-z0-9+/]"
_PADDING = Run("=", 0, 2)
_TEXT = r"[A-Za-z0-9 .,:/@_-]"
_HEADERS = Alternatives(
    (
        (Literals(("Proc-Type: 4,ENCRYPTED",)),),
        (Literals(("DEK-Info: ",)), Run("[A-Z0-9-]", 1, 20), Literals((",",)), Run("[0-9A-Fa-f]", 1, 64)),
        (
            Literals(("Version: ", "Comment: ", "Hash: ", "Charset: ", "MessageID: ")),
            Run(_TEXT, 0, 120),
            Repeat((Literals(("(GNU/Linux)", "(MingW32)", "(Darwin)", "(FreeBSD)", "(OpenBSD)")),)),
        ),
    )
)
# What a tool shows in front of a line: `     2<tab>`, `key.pem:2:`, the signs of a diff.
_IN_FRONT = Repeat(
    (
        Alternatives(
            (
                (Run("[0-9]", 1, 7), Literals(("\t",))),
                (Run(r"[\w./-]", 1, 200), Literals((":",)), Run("[0-9]", 1, 7), Literals((":",))),
                (Run("[>#|-]", 1, 1), Run(" ", 0, 4)),
            )
        ),
    )
)
_LINE = (_IN_FRONT, Run(_BASE64, 16, None), _PADDING)
_LAST_LINES = (
    Run(_GAP, 0, None),
    Repeat((_IN_FRONT, Run(_BASE64, 1, 15), _PADDING, Run(_GAP, 1, None))),
    Repeat((_IN_FRONT, Literals(("=",)), Run(_BASE64, 4, 4), Run(_GAP, 1, None))),  # PGP's checksum
    Alternatives(((_END,), (_IN_FRONT, _END))),
)

PRIVATE_KEY = SecretPattern(
    "private-key",
    (
        _BEGIN,
        Run(_GAP, 0, None),
        Repeat((_IN_FRONT, _HEADERS, Run(_GAP, 1, None)), 0, 20),
        *_LINE,
        Repeat((Run(_GAP, 1, None), *_LINE), 0, None),
        Repeat(_LAST_LINES),
    ),
    private_key,
    bound="",
)
