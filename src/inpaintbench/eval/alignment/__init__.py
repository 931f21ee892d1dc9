"""Agreement of metrics with people: the protocol of EditBoard (AAAI 2025), with what it leaves open stated and measured."""
