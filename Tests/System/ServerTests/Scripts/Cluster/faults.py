"""What happens to the cluster during a soak. Each fault returns when the cluster is whole again."""

import signal
import time

import machines


def kill_node(cluster, rng):
    """kill -9 of a node of Sojourn; it starts again after three seconds."""
    node = rng.choice(cluster.nodes)
    node.process.kill()
    time.sleep(3)
    node.process.start()
    return node.name


def crash_primary(cluster, rng):
    """kill -9 of PostgreSQL on the primary: it recovers where it is, or a standby takes over."""
    member = machines.wait_for("a primary", cluster.primary)
    machines.send([member.postmaster()], signal.SIGKILL)
    return member.name


def switch_over(cluster, rng):
    """An operator moves the primary to the synchronous standby."""
    def ask():
        leader, candidate = cluster.primary(), cluster.synchronous()
        if not (leader and candidate):
            return None
        body = {"leader": leader.name, "candidate": candidate.name}
        # Patroni refuses while a standby is behind; an operator tries again.
        is_done = machines.ask(leader.url + "/switchover", body, seconds=60)[0] == 200
        return is_done and f"{leader.name} to {candidate.name}"

    return machines.wait_for("switchover", ask)


def freeze_primary(cluster, rng):
    """The machine of the primary stands still until another one has taken over, and then goes on as if nothing was."""
    member = machines.wait_for("a primary", cluster.primary)
    pids = member.processes()
    machines.send(pids, signal.SIGSTOP)
    try:
        others = [other for other in cluster.members if other is not member]
        machines.wait_for("another primary", lambda: any(other.is_primary() for other in others), 120)
        time.sleep(3)
    finally:
        machines.send(pids, signal.SIGCONT)
    return member.name


def lose_machine(cluster, rng):
    """The machine of the primary loses its power. It comes back after another one took over."""
    member = machines.wait_for("a primary", cluster.primary)
    machines.send(member.processes(), signal.SIGKILL)
    member.patroni.process.wait()
    others = [other for other in cluster.members if other is not member]
    machines.wait_for("another primary", lambda: any(other.is_primary() for other in others), 120)
    member.patroni.start()
    return member.name


def lose_machine_after_a_lag(cluster, rng):
    """No standby receives anything for some seconds, and then the primary is gone. Without a synchronous standby these
    seconds are lost."""
    member = machines.wait_for("a primary", cluster.primary)
    others = [other for other in cluster.members if other is not member]
    receivers = [pid for other in others for pid in other.processes() if machines.title(pid).endswith("walreceiver")]
    machines.send(receivers, signal.SIGSTOP)
    time.sleep(3)
    machines.send(member.processes(), signal.SIGKILL)
    member.patroni.process.wait()
    # What is still in their sockets goes with them.
    machines.send(receivers, signal.SIGTERM)
    machines.send(receivers, signal.SIGCONT)
    machines.wait_for("another primary", lambda: any(other.is_primary() for other in others), 120)
    member.patroni.start()
    return member.name


def lose_standby(cluster, rng):
    """The machine of the synchronous standby loses its power: commits wait until Patroni has chosen the other one."""
    member = machines.wait_for("a synchronous standby", cluster.synchronous)
    machines.send(member.processes(), signal.SIGKILL)
    member.patroni.process.wait()
    time.sleep(10)
    member.patroni.start()
    return member.name


def restart_nodes(cluster, rng):
    """A rolling restart of Sojourn: each node stops in order and starts again before the next one stops."""
    for node in cluster.nodes:
        status = node.process.stop()
        if status != 0:
            raise machines.Failed(f"{node.name} stopped with the status {status}")
        node.process.start()
        machines.wait_for(node.name, node.is_ready)
    return "all"


#: In this order, again and again.
ALL = {
    "node": kill_node, "crash": crash_primary, "switchover": switch_over, "freeze": freeze_primary,
    "machine": lose_machine, "standby": lose_standby, "lag": lose_machine_after_a_lag, "rolling": restart_nodes,
}
