"""Which addresses are public, against lists from the registries."""

from __future__ import annotations

import ipaddress

import pytest

from inpaintbench.errors import InputError
from inpaintbench.http_client import Limits, non_public_reason

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


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (Limits(), set()),
        (Limits(allow_private=True), {"10.1.2.3", "10.2.0.1", "127.0.0.1", "fc00::1", "::ffff:10.1.2.3"}),
        (Limits(allow_nets=("10.1.0.0/16",)), {"10.1.2.3", "::ffff:10.1.2.3"}),
        (Limits(allow_nets=("10.1.2.3", "fc00::/7", "169.254.0.0/16")), {"10.1.2.3", "::ffff:10.1.2.3", "fc00::1"}),
        (Limits(allow_hosts=("Media.Test",)), {"10.1.2.3", "10.2.0.1", "127.0.0.1", "fc00::1", "::ffff:10.1.2.3"}),
        (Limits(allow_hosts=("other.test", "test")), set()),
    ],
)
def test_own_addresses_are_allowed_by_name_or_by_net(limits: Limits, allowed: set[str]) -> None:
    own = ["10.1.2.3", "10.2.0.1", "127.0.0.1", "fc00::1", "::ffff:10.1.2.3"]
    assert {address for address in own if limits.why_not("media.test", address) is None} == allowed
    assert limits.why_not("media.test", "8.8.8.8") is None


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fd00:ec2::254", "100.100.100.200",
     "168.63.129.16", "fe80::a9fe:a9fe%2"],
)  # fmt: skip
def test_where_clouds_keep_secrets_nobody_may_ask(address: str) -> None:
    for limits in (
        Limits(), Limits(allow_private=True), Limits(allow_hosts=("metadata.test",)), Limits(allow_nets=("0.0.0.0/0", "::/0")),
    ):  # fmt: skip
        assert "is where clouds tell their machines secrets" in (limits.why_not("metadata.test", address) or "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"allow_nets": ("10.0.0.0/99",)}, "'10.0.0.0/99' is not a net of addresses, such as 10.1.0.0/16"),
        ({"allow_nets": ("intranet",)}, "'intranet' is not a net of addresses"),
        ({"allow_hosts": ("http://media.test/",)}, "'http://media.test/' is not the name of a host"),
        ({"allow_hosts": ("media.test:8080",)}, "'media.test:8080' is not the name of a host"),
        ({"allow_hosts": ("",)}, "'' is not the name of a host"),
    ],
)
def test_what_is_no_host_or_net_is_told(given: dict[str, tuple[str, ...]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Limits(**given)
