"""The shape of a private key in PEM or PGP armor: only what can occur in one, so that nothing else is hidden.

Source: RFC 7468 (PEM), RFC 1421 section 4.6 (its headers), RFC 4880 section 6.2 (armor).
"""

from __future__ import annotations

from onyx_jupyter.security.secret_values import private_key
from onyx_jupyter.security.shape import Shape
from onyx_jupyter.security.shape_parts import OneOf, Run, Several, Words

_KINDS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")
_BEGIN = Words((*(f"-----BEGIN {kind}PRIVATE KEY-----" for kind in _KINDS), "-----BEGIN PGP PRIVATE KEY BLOCK-----"))
_END = Words((*(f"-----END {kind}PRIVATE KEY-----" for kind in _KINDS), "-----END PGP PRIVATE KEY BLOCK-----"))

# Line ends, also as JSON and Python write them, and what joins string literals in code.
_GAP = r"(?:[\s\"',+\\]|(?<=\\)[nrt])"
_BASE64 = "[A-Za-z0-9+/]"
_PADDING = Run("=", 0, 2)
_TEXT = r"[A-Za-z0-9 .,:/@_-]"
_HEADERS = OneOf(
    (
        (Words(("Proc-Type: 4,ENCRYPTED",)),),
        (Words(("DEK-Info: ",)), Run("[A-Z0-9-]", 1, 20), Words((",",)), Run("[0-9A-Fa-f]", 1, 64)),
        (
            Words(("Version: ", "Comment: ", "Hash: ", "Charset: ", "MessageID: ")),
            Run(_TEXT, 0, 120),
            Several((Words(("(GNU/Linux)", "(MingW32)", "(Darwin)", "(FreeBSD)", "(OpenBSD)")),)),
        ),
    )
)
# What a tool shows in front of a line: `     2<tab>`, `key.pem:2:`, the signs of a diff.
_IN_FRONT = Several(
    (
        OneOf(
            (
                (Run("[0-9]", 1, 7), Words(("\t",))),
                (Run(r"[\w./-]", 1, 200), Words((":",)), Run("[0-9]", 1, 7), Words((":",))),
                (Run("[>#|-]", 1, 1), Run(" ", 0, 4)),
            )
        ),
    )
)
_LINE = (_IN_FRONT, Run(_BASE64, 16, None), _PADDING)
_LAST_LINES = (
    Run(_GAP, 0, None),
    Several((_IN_FRONT, Run(_BASE64, 1, 15), _PADDING, Run(_GAP, 1, None))),
    Several((_IN_FRONT, Words(("=",)), Run(_BASE64, 4, 4), Run(_GAP, 1, None))),  # PGP's checksum
    OneOf(((_END,), (_IN_FRONT, _END))),
)

PRIVATE_KEY = Shape(
    "private-key",
    (
        _BEGIN,
        Run(_GAP, 0, None),
        Several((_IN_FRONT, _HEADERS, Run(_GAP, 1, None)), 0, 20),
        *_LINE,
        Several((Run(_GAP, 1, None), *_LINE), 0, None),
        Several(_LAST_LINES),
    ),
    private_key,
    bound="",
)
