"""Which addresses are public, against lists from the registries."""

from __future__ import annotations

import ipaddress

import pytest

from inpaintbench.http_client import non_public_reason

PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:2800:21f:cb07::1", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1"]
NOT_PUBLIC = {
    "127.0.0.1": "loopback", "127.255.1.2": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
    "10.1.2.3": "private", "172.16.0.1": "private", "192.168.1.1": "private", "100.64.0.1": "private", "192.0.2.1": "private",
    "198.18.0.1": "private", "fc00::1": "private", "2001:db8::1": "private", "::ffff:10.0.0.1": "private",
    "64:ff9b::a00:1": "private", "2002:a00:1::1": "private",
    "fec0::1": "site-local", "feff::1": "site-local",
    "169.254.169.254": "link-local", "fe80::1": "link-local", "fe80::1%2": "link-local", "64:ff9b::a9fe:a9fe": "link-local",
    "::ffff:a9fe:a9fe": "link-local", "0.0.0.0": "unspecified", "::": "unspecified", "224.0.0.1": "multicast",
    "239.255.255.250": "multicast", "ff02::1": "multicast", "240.0.0.1": "reserved", "255.255.255.255": "reserved",
    "::7f00:1": "reserved", "2001:0:7f00:1::": "private", "64:ff9b:1::1": "reserved",
}  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_asked(address: str) -> None:
    assert non_public_reason(ipaddress.ip_address(address)) is None


@pytest.mark.parametrize(("address", "kind"), NOT_PUBLIC.items())
def test_all_others_are_named(address: str, kind: str) -> None:
    assert kind in (non_public_reason(ipaddress.ip_address(address)) or "")
