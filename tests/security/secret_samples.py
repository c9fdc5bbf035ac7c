"""Made-up secrets of every shape, and ordinary texts that look a little like some. None of them opens anything."""

MIXED = "a8F3kd93jfK30dkfj39dkfQ2w7Zx61Tn"
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\n" * 3 + "-----END RSA PRIVATE KEY-----"

# kind → (text, the part of it that nobody may see)
SECRETS = {
    "openai-key": (f"sk-proj-{MIXED}", MIXED),
    "anthropic-key": (f"sk-ant-api03-{MIXED}", MIXED),
    "openrouter-key": (f"sk-or-v1-{MIXED}", MIXED),
    "onyx-key": (f"onyx_sk_{MIXED}", MIXED),
    "google-key": (f"AIza{MIXED}xyz", MIXED),
    "aws-key-id": ("AKIAQ3EGRIKXAMPL2345", "Q3EGRIKXAMPL2345"),
    "github-token": (f"ghp_{MIXED}abcd", MIXED),
    "gitlab-token": (f"glpat-{MIXED}", MIXED),
    "slack-token": (f"xoxb-123456789012-{MIXED}", MIXED),
    "slack-webhook": ("https://hooks.slack.com/services/T12345678/B12345678/AbCdEfGhIjKl", "T12345678"),
    "stripe-key": (f"sk_live_{MIXED}", MIXED),
    "huggingface-token": ("hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", "GhIjKlMnOpQr"),
    "npm-token": (f"npm_{MIXED}abcd", MIXED),
    "pypi-token": (f"pypi-AgE{MIXED}{MIXED}", MIXED),
    "jwt": (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{MIXED}", MIXED),
    "private-key": (PEM, "MIIEowIBAAKC"),
    "url-password": ("postgresql://ada:t0pS3cret@db.example.org/x", "t0pS3cret"),
    "bearer-token": (f"Authorization: Bearer {MIXED}", MIXED),
    "basic-credentials": ("authorization: Basic YWRhOmxvdmVsYWNlMTg0Mw==", "YWRhOmxvdmVsYWNl"),
    "password": ("DB_PASSWORD = 'Winter-2031x'", "Winter-2031x"),
    "api-key": (f'os.environ["MY_API_KEY"] = "{MIXED}"', MIXED),
    "secret": (f"clientSecret: {MIXED}", MIXED),
    "token": (f"http://localhost:8888/lab?token={'4f2a9c8b7e6d' * 4}", "4f2a9c8b7e6d"),
}

ORDINARY = (
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "cell 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ran",
    '<div class="sk-text-repr-fallback sk-container-id-12 sk-estimator-doc-link fitted">',
    "token = tokenizer.encode(text)  # 1024 tokens, max_tokens=4096",
    "password = getpass.getpass()",
    'api_key = os.environ["OPENAI_API_KEY"]',
    'apiKey: "${LAB_KEY}"',
    'api_key = "YOUR_API_KEY_GOES_HERE_1"',
    "postgresql://user:password@localhost/db",
    "http://localhost:8888/lab/tree/a.ipynb",
    "AKIAIOSFODNN7EXAMPLE",
    "Basic information about a Bearer of good news",
    "secret santa, a secret: nobody knows",
    "pwd = '/home/ada/Work2/2026/run-17'",
    "-----BEGIN PRIVATE KEY----- is how such a file begins.",
    "task-0123456789abcdef0123 disk-0123456789abcdef0123",
    '{"pad_token": "<pad>", "eos_token_id": 50256, "num_tokens": 1234567890}',
)
