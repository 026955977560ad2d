"""Time stamps by an authority (RFC 3161): when a log existed.

A client of the user's choice sends the last hash to an authority and stores the signed reply.
"""

from __future__ import annotations

import logging
import shlex
import subprocess
from typing import TYPE_CHECKING

from scrapy_robotspec.evidence.log_lines import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger("scrapy_robotspec")

#: Seconds that a client may take: the crawl waits for it when it ends.
_TIMEOUT = 60
#: Max bytes of a reply that are read; the digest is before its certificates.
MAX_REPLY = 2**20


def stamp(command: str, output: Path, digest: str) -> None:
    """Run *command* over *digest* (SHA-256, hexadecimal); it writes the reply to *output*.

    ``{digest}`` and ``{output}`` in *command* are replaced; no shell reads it. One ERROR in the log
    names the failure of the client.
    """
    words = [
        word.replace("{digest}", digest).replace("{output}", str(output))
        for word in shlex.split(command)
    ]
    try:
        client = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT
        )
        if client.returncode:
            said = client.stderr.decode("utf-8", "replace").strip()
            raise EvidenceError(f"exit code {client.returncode}: {said[-500:]!a}")
        output.chmod(0o600)
        check_reply(output.read_bytes(), digest)
    except (EvidenceError, OSError, subprocess.SubprocessError) as error:
        logger.error(
            "The evidence has no time stamp (ROBOTSPEC_EVIDENCE_TIMESTAMP: %s). Have its last hash "
            "stamped now: %s",
            error,
            digest,
        )


def check_reply(reply: bytes, digest: str) -> None:
    """Raise ``EvidenceError`` for a reply that is not about *digest*.

    Whether an authority has signed it, :func:`verifying_command` finds out.
    """
    if bytes.fromhex(digest) not in reply:
        raise EvidenceError("the time stamp is not one of the last hash")


def verifying_command(path: Path, digest: str) -> str:
    """The command that verifies the reply at *path*."""
    words = ("openssl", "ts", "-verify", "-digest", digest, "-in", str(path))
    return f"{shlex.join(words)} -CAfile AUTHORITY.pem"
