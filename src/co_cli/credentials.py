"""What looks like a secret: keys, tokens, passwords, private-key blocks.

Owns the patterns and the name of what was found; never hands out the secret itself. Pure.
"""

from __future__ import annotations

import re

# A value counts when it mixes letters with digits or signs: "the token: ask the platform team" is no secret. What only says
# where the secret lies is none either: ${TOKEN}, <token>, {{ token }}, an address, a path.
_ASSIGNED = (
    r"(?i:(?<![A-Za-z0-9])(?:pass(?:word|wd|phrase)?|secret(?:[_ -]?key)?|token|(?:api|access)[_ -]?key)\b"
    r"[\"']?[ ]*(?:=|:|\bis\b)[ ]*[\"'`]?)"
    r"(?!\$\{[^}\s]*\}|\$[A-Z_][A-Z0-9_]*(?![^\s\"'`,;.)])|<[^>\s]*>|\{\{|[a-z]+://|[~.]{0,2}/[\w.-]+/)"
    r"(?=[^\s\"'`]{0,200}[A-Za-z])(?=[^\s\"'`]{0,200}[0-9!#$%&*+^~])[^\s\"'`]{8}"
)
# Bounded where a match could fail late, so that no text takes long to look through.
_PATTERNS = (
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI-style key", r"\bsk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20}"),
    ("a Stripe key", r"\b(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}"),
    ("a Google key", r"\b(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})"),
    ("an Azure key", r"\b(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"\bpypi-AgEI[A-Za-z0-9_-]{20,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("a Telegram token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("an age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8}"),
    ("a bearer token", r"(?i:\bbearer)[ ]+(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{24}"),
    ("a password in a header", r"(?i:\bauthorization:[ ]{0,20}basic)[ ]+[A-Za-z0-9+/]{12}"),
    ("a password in an address", r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{1,200}:[^\s/@]{3,200}@"),
    ("a password or key", _ASSIGNED),
)

_compiled: list[tuple[str, re.Pattern[str]]] = []


def find_secret(text: str) -> str:
    """Name what looks like a secret in the text, or return an empty string."""
    if not _compiled:
        _compiled.extend((name, re.compile(pattern)) for name, pattern in _PATTERNS)
    return next((name for name, pattern in _compiled if pattern.search(text)), "")
