"""An untrusted certificate that fits no host, for HTTPS on loopback."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def context() -> ssl.SSLContext:
    """A server's context with a fresh certificate for ``wrong.example.com``."""
    with tempfile.TemporaryDirectory() as folder:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(write_certificate(Path(folder) / "both.pem"))
        return made


def write_certificate(path: Path, address: IPv4Address | None = None) -> Path:
    """Write a fresh certificate and its key to *path*.

    With an *address* it is valid for a server there, if it is trusted.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name.from_rfc4514_string("CN=wrong.example.com")
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    if address is not None:
        names = x509.SubjectAlternativeName([x509.IPAddress(address)])
        builder = builder.add_extension(names, critical=False)
        authority = x509.BasicConstraints(ca=True, path_length=0)
        builder = builder.add_extension(authority, critical=True)
    certificate = builder.sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    path.write_bytes(
        certificate.public_bytes(pem)
        + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path
