"""Writes into a folder: ca.pem, and the certificate and key of a server that it signs for 127.0.0.1
(server.pem, server.key); other.pem, an authority that signed nothing."""

import datetime
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

folder = pathlib.Path(sys.argv[1])
start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)


def name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def certificate(subject, issuer, key, signer, authority):
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start).not_valid_after(start + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = builder.add_extension(host, critical=False)
    return builder.sign(signer, hashes.SHA256())


def write(file, value):
    folder.joinpath(file).write_bytes(value.public_bytes(serialization.Encoding.PEM))


authority, other, server = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
write("ca.pem", certificate("ca", "ca", authority, authority, True))
write("other.pem", certificate("ca", "ca", other, other, True))
write("server.pem", certificate("server", "ca", server, authority, False))
folder.joinpath("server.key").write_bytes(
    server.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
)
