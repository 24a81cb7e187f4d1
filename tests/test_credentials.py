"""What looks like a secret, and what only speaks of one. Every key here is made up, and put together when the tests run."""

from __future__ import annotations

import time

import pytest

from co_cli.credentials import find_secret

MIXED = "a1B2c3D4e5F6g7H8i9J0" * 3
CAPITALS = "AB12CD34EF56GH78"

SECRETS = {
    "an AWS access key": ["AK" + "IA" + CAPITALS, f"use {'AS' + 'IA' + CAPITALS}, it works"],
    "a GitHub token": ["gh" + "p_" + MIXED[:36], "gh" + "s_" + MIXED[:36], "github" + "_pat_" + MIXED],
    "a GitLab token": ["glp" + "at-" + MIXED[:20]],
    "an Anthropic key": ["sk-" + "ant-api03-" + MIXED],
    "an OpenAI-style key": ["sk-" + MIXED[:48], "sk-" + "proj-" + MIXED, "sk-" + "svcacct-" + MIXED],
    "a Stripe key": ["sk_" + "live_" + MIXED[:24], "rk_" + "test_" + MIXED[:24], "wh" + "sec_" + MIXED[:32]],
    "a Google key": ["AI" + "za" + MIXED[:35], "GOC" + "SPX-" + MIXED[:28], "ya" + "29." + MIXED],
    "an Azure key": ["DefaultEndpointsProtocol=https;Account" + "Key=" + MIXED + "=="],
    "a SendGrid key": ["S" + "G." + MIXED[:22] + "." + MIXED[:43]],
    "a DigitalOcean token": ["do" + "p_v1_" + "0a" * 32],
    "a Telegram token": ["bot" + " 123456789:" + "AA" + MIXED[:33]],
    "an age key": ["AGE-SECRET-" + "KEY-1" + CAPITALS * 4],
    "a password in a header": ["Authorization: " + "Basic " + MIXED[:24] + "=="],
    "a Slack token": ["xo" + "xb-" + "123456789012-" + MIXED[:24]],
    "an npm token": ["np" + "m_" + MIXED[:36]],
    "a PyPI token": ["py" + "pi-" + "AgEI" + MIXED],
    "a Hugging Face token": ["h" + "f_" + MIXED[:34]],
    "a JSON web token": ["ey" + "J" + MIXED[:20] + ".ey" + "J" + MIXED[:30] + "." + MIXED[:40]],
    "a bearer token": ["Authorization: " + "Bearer " + MIXED[:40], "bearer  " + MIXED[:24]],
    "a private key": [f"-----BEGIN {kind}PRIVATE" + " KEY-----\nMIIE" for kind in ("", "RSA ", "OPENSSH ", "ENCRYPTED ")],
    "a password in an address": [
        "postgres" + "://app:" + "hunter2" + "@db.example.org/app",
        "https" + "://me:" + "p4ss@host",
    ],
    "a password or key": [
        "The password is " + "hunter2" + "hunter2",
        "pass" + "word: corr3ct-horse",
        "PASS" + "WORD=Tr0ub4dor&3",
        "DB_PASS" + "WORD=hunter2" + "abc",
        "export AWS_SECRET_" + "ACCESS_KEY=" + MIXED[:40],
        "OPENAI_" + "API_KEY='" + MIXED[:30] + "'",
        '"api' + 'Key": "' + MIXED[:30] + '"',
        "api " + "key: `" + MIXED[:20] + "`",
        "client_" + "secret = " + MIXED[:20],
        "SECRET_" + "KEY = 'django-insecure-" + MIXED[:20] + "'",
        "the pass" + "phrase is open$esame",
        "tok" + "en=" + MIXED[:16],
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, those in SECRETS.items() for text in those])
@pytest.mark.parametrize("around", ["{}", "Note to self: {} (rotate in May)", "first line\n{}\nlast line"])
def test_a_secret_is_found_and_named_wherever_it_stands(name, text, around):
    assert find_secret(around.format(text)) == name


@pytest.mark.parametrize(
    "text",
    [
        "The token: ask the platform team",
        "Password policy: 12 characters, one digit",
        "The API key is stored in 1Password",
        "The password is in the vault, ask Ada",
        "Passwords are hashed with argon2id",
        "token budget = 8192",
        "max_tokens: 4096",
        "The secret is to keep functions short",
        "Secret: see https://wiki.example.org/page#section2",
        "api key: https://console.example.org/keys/2",
        "secret: /run/secrets/db_password1",
        "token: ~/.config/tool/token2",
        "password: ${DB_PASSWORD_1}",
        "token=$GITHUB_TOKEN",
        'token: "$CI_JOB_TOKEN".',
        "api_key = os.environ['API_KEY_2']",
        "password: <your-password-1>",
        "password: {{ vault.db_password_1 }}",
        "password: ********",
        "Bearer src/auth/middleware/tokens.py handles it",
        "the sk-learn-compatible-estimator-interface",
        "We compare sk-SK and en-GB locales",
        "a task-queue-with-retries-and-backoff-2",
        "See http://localhost:8080/@ada and git@github.com:team/repo.git",
        "postgres://localhost:5432/app",
        "compass: north-by-northwest-2",
        "Deploys need two approvals, hotfixes one",
        "commit 3f786850e387550fdaab836ee7e9ea1d8f1f5b1a broke the build",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "Authorization: Basic is not allowed, use OAuth",
        "The SG.M9 satellite was launched in 2003",
        "Storage connects with AccountKey=<from the vault>",
        "The match ended 12345678:AA",
        "C++ and C# are two languages",
        "",
    ],
)
def test_an_ordinary_sentence_is_no_secret(text):
    assert find_secret(text) == ""


@pytest.mark.parametrize(
    "part",
    [
        "a.",
        "token ",
        "token:",
        "sk-",
        "eyJ-",
        "x://",
        "a:",
        "bearer ",
        "-----BEGIN ",
        "secret is ",
        "SG.a",
        "1:",
        "authorization: ",
    ],
)
def test_no_text_keeps_the_search_busy(part):
    began = time.process_time()
    find_secret(part * 10_000)
    assert time.process_time() - began < 1
