"""The options of ssh_config(5) that are not honoured, as OpenSSH spells them: messages show names as manuals do."""

from __future__ import annotations

from collections.abc import Iterable

from checkrunner.model.errors import nearest

__all__ = ["NOT_HONOURED", "ignored_sentence", "spelling"]

_NAMES = """
    AddKeysToAgent BindInterface ConnectionAttempts GSSAPIClientIdentity GSSAPIKexAlgorithms GSSAPIRenewalForcesRekey
    GSSAPIServerIdentity Protocol PubkeyAcceptedKeyTypes RSAAuthentication UseKeychain UsePrivilegedPort
    CanonicalDomains CanonicalizeFallbackLocal CanonicalizeHostname CanonicalizeMaxDots
    CanonicalizePermittedCNAMEs ChannelTimeout CheckHostIP ClearAllForwardings ControlMaster ControlPath ControlPersist
    DynamicForward EnableEscapeCommandline EnableSSHKeysign EscapeChar ExitOnForwardFailure FingerprintHash
    ForkAfterAuthentication ForwardAgent ForwardX11 ForwardX11Timeout ForwardX11Trusted GatewayPorts
    GSSAPIAuthentication GSSAPIDelegateCredentials GSSAPIKeyExchange GSSAPITrustDns HashKnownHosts
    HostbasedAcceptedAlgorithms HostbasedAuthentication IgnoreUnknown IPQoS KbdInteractiveDevices KnownHostsCommand
    LocalCommand LocalForward LogLevel LogVerbose NoHostAuthenticationForLocalhost NumberOfPasswordPrompts
    ObscureKeystrokeTiming PermitLocalCommand PermitRemoteOpen PKCS11Provider ProxyUseFdpass
    PubkeyAcceptedAlgorithms RemoteCommand RemoteForward RequestTTY RequiredRSASize RevokedHostKeys SecurityKeyProvider
    SendEnv SessionType SetEnv StdinNull StreamLocalBindMask StreamLocalBindUnlink SyslogFacility Tunnel TunnelDevice
    UpdateHostKeys VerifyHostKeyDNS VisualHostKey XAuthLocation
"""
NOT_HONOURED = tuple(_NAMES.split())

_SPELLINGS = {name.lower(): name for name in NOT_HONOURED}


def spelling(name: str) -> str:
    """The option's name as OpenSSH writes it; one that it does not have, or that is honoured, as it is."""
    return _SPELLINGS.get(name.lower(), name)


def ignored_sentence(name: str, honoured: Iterable[str]) -> str:
    """What to say of an option or flag that was set in vain."""
    if not name.isalnum() or name in NOT_HONOURED:
        return f"the SSH option {name} is set and not honoured"
    known = {option.lower(): option for option in (*honoured, *NOT_HONOURED)}
    close = nearest(name.lower(), known)
    meant = f"; did you mean {known[close]}?" if close else ""
    return f"the SSH option {name} is set and not honoured: OpenSSH has none of this name{meant}"
