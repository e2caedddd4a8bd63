"""What only a container can do."""

from __future__ import annotations

from berbench.engine.conformance.bench import Bench, check
from berbench.model.trial import Limits


@check(needs="a control group")
def memory_that_runs_out_is_told(bench: Bench) -> None:
    """Killed itself, or a child in a pipe whose end is fine: never a mere pass or failure (D11)."""
    hog = 'python3 -c "x = bytearray(400 << 20); print(len(x))"'
    for command in (hog, f"({hog}) | cat; exit 0"):
        facts = bench.trial(command, limits=Limits(memory_bytes=64 << 20))
        assert facts.out_of_memory, facts
    assert not bench.trial("true", limits=Limits(memory_bytes=64 << 20)).out_of_memory


@check(needs="a control group")
def a_fork_bomb_ends(bench: Bench) -> None:
    """The process limit holds, the time limit ends it, and the facts say so."""
    bomb = "f() { f | f & }; f; sleep 98765"
    facts = bench.trial(bomb, limits=Limits(pids=64), timeout_s=2)
    assert facts.timed_out or facts.exit_code not in (0, None)
    assert any("processes" in warning for warning in facts.warnings), facts


@check(needs="a network namespace")
def there_is_no_network(bench: Bench) -> None:
    """Only loopback is there, and the own name resolves to it."""
    said = bench.says(
        'ls /sys/class/net; python3 -c "import socket; print(socket.gethostbyname(socket.gethostname()))"'
    )
    assert said.split()[-2:] == [b"lo", b"127.0.0.1"], said


@check(needs="a network namespace")
def a_declared_network_is_there(bench: Bench) -> None:
    """`bridge` gives an address."""
    assert b"eth0" in bench.says("ls /sys/class/net", network="bridge")


@check(needs="capabilities")
def privileges_are_few(bench: Bench) -> None:
    """No mounts, no devices, no raw sockets, no way to more; changing owners and users works."""
    assert bench.trial("mount -t tmpfs none /mnt").exit_code != 0
    assert bench.trial("mknod /x b 7 0").exit_code != 0
    said = bench.says("grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; chown 1000:1000 kept.txt")
    assert b"CapEff:\t00000000000000fb\n" in said and b"NoNewPrivs:\t1\n" in said, said


@check(needs="a mount namespace")
def nothing_of_the_host_is_there(bench: Bench) -> None:
    """No socket of the engine, no folder of the host (S07)."""
    said = bench.says(
        "ls /var/run/docker.sock /run/docker.sock 2>&1 | grep -c 'No such';"
        " cut -d' ' -f5 /proc/self/mountinfo"
    )
    assert said.startswith(b"2\n")
    mounts = {line.decode() for line in said.splitlines()[1:]}
    own = (
        "/proc",
        "/sys",
        "/dev",
        "/etc/host",
        "/etc/resolv.conf",
        "/usr/sbin/docker-init",
        "/sbin/docker-init",
    )
    assert all(mount == "/" or mount.startswith(own) for mount in mounts), mounts


@check(needs="a process of its own as number 1")
def a_trial_that_kills_all_it_can_is_no_pass(bench: Bench) -> None:
    """`kill -9 -1` takes the script that records with it; what is left is not a zero."""
    facts = bench.trial("kill -9 -1; sleep 1; exit 0")
    assert facts.exit_code not in (0, None) and facts.warnings


@check(needs="a record that the engine's exit state can contradict")
def a_forged_record_is_no_pass(bench: Bench) -> None:
    """A zero written into the record does not count against the engine's own account."""
    facts = bench.trial("echo verify ended 99999999 0 >>/berbench/out/.trial/record; kill -9 -1; sleep 1")
    assert facts.exit_code != 0
