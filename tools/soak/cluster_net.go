package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// network connects the parts of the cluster. With namespaces, each replica has one of its own, with a link to the
// balancer and another to the databases, and the second can be cut. Without namespaces everything is on loopback, and
// each replica reaches the databases through proxies that can be stopped.
type network struct {
	separate  bool        // there are namespaces
	databases [2]string   // addresses of the servers of the database
	everyone  string      // the network of all replicas
	holders   []*exec.Cmd // processes that keep the namespaces
	proxies   [][2]*stoppingProxy
}

// inside says that the program runs in a namespace of its own.
const inside = "TOOLDEX_SOAK_NAMESPACE"

// enterNamespace starts this program again in a network namespace, which ends with it, if that is permitted.
func enterNamespace() error {
	if runtime.GOOS != "linux" || os.Getenv(inside) != "" {
		return nil
	}
	program, err := exec.LookPath("unshare")
	if err != nil {
		return nil // network.how says so on the page
	}
	trial := exec.CommandContext(context.Background(), program, "--net", "ip", "link", "set", "lo", "up")
	if trial.Run() != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := append([]string{program, "--net", "--", self}, os.Args[1:]...)
	return syscall.Exec(program, args, append(os.Environ(), inside+"=1"))
}

// newNetwork makes the links.
func newNetwork(t *testOf) (*network, error) {
	n := &network{
		separate: os.Getenv(inside) != "", everyone: "127.83.0.0/16",
		databases: [2]string{"127.83.255.1", "127.83.255.2"},
	}
	if !n.separate {
		return n, n.addProxies(t)
	}
	n.everyone, n.databases = "198.18.0.0/15", [2]string{"198.19.255.1", "198.19.255.2"}
	if err := ip("link set lo up", "addr add 198.19.255.1/32 dev lo", "addr add 198.19.255.2/32 dev lo"); err != nil {
		return nil, err
	}
	for i := range replicaNum {
		if err := n.addNamespace(t, i); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// addNamespace makes the namespace of a replica, and its links to the balancer (front) and to the databases (back).
func (n *network) addNamespace(t *testOf, i int) error {
	holder := exec.CommandContext(context.Background(), "unshare", "--net", "sh", "-c",
		"echo ready; exec sleep infinity")
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait() // it was killed
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has its namespace
		return err
	}
	n.holders = append(n.holders, holder)
	pid := holder.Process.Pid
	err = ip(
		fmt.Sprintf("link add front%d type veth peer name front netns %d", i, pid),
		fmt.Sprintf("link add back%d type veth peer name back netns %d", i, pid),
		fmt.Sprintf("addr add 198.18.%d.1/24 dev front%d", i, i),
		fmt.Sprintf("addr add 198.19.%d.1/24 dev back%d", i, i),
		fmt.Sprintf("link set front%d up", i), fmt.Sprintf("link set back%d up", i),
	)
	if err != nil {
		return err
	}
	for _, line := range []string{
		"link set lo up",
		fmt.Sprintf("addr add 198.18.%d.2/24 dev front", i), fmt.Sprintf("addr add 198.19.%d.2/24 dev back", i),
		"link set front up", "link set back up",
		fmt.Sprintf("route add 198.19.255.0/24 via 198.19.%d.1 dev back", i),
	} {
		if out, err := n.within(i, "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// ip runs the command of that name, once for each line.
func ip(lines ...string) error {
	for _, line := range lines {
		cmd := exec.CommandContext(context.Background(), "ip", strings.Fields(line)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// within returns a command that runs where a replica runs.
func (n *network) within(i int, name string, args ...string) *exec.Cmd {
	if !n.separate {
		return exec.CommandContext(context.Background(), name, args...)
	}
	pid := strconv.Itoa(n.holders[i].Process.Pid)
	args = append([]string{"--net=/proc/" + pid + "/ns/net", "--", name}, args...)
	return exec.CommandContext(context.Background(), "nsenter", args...)
}

// listen returns where a replica listens, and where it is reached.
func (n *network) listen(i int) (listen, reached string) {
	if n.separate {
		return "0.0.0.0:8733", fmt.Sprintf("198.18.%d.2:8733", i)
	}
	address := fmt.Sprintf("127.83.%d.9:8733", i)
	return address, address
}

// store returns the address of the database for a replica, or for this program if i is negative.
func (n *network) store(i int, tenant string) string {
	hosts := n.databases
	if i >= 0 && !n.separate {
		hosts = [2]string{n.proxies[i][0].address, n.proxies[i][1].address}
	}
	return "postgres://tooldex@" + hosts[0] + "," + hosts[1] +
		"/tooldex?sslmode=disable&target_session_attrs=read-write&tenant=" + tenant
}

// how describes how a replica is cut off, for the page.
func (n *network) how() string {
	if n.separate {
		return "a network namespace for each replica, whose link to the databases is taken down"
	}
	return "**no network namespaces are permitted here**: " +
		"a proxy between a replica and the databases stops passing bytes on"
}

// cut cuts a replica off from the databases, or ends that.
func (n *network) cut(i int, off bool) error {
	if n.separate {
		return ip(fmt.Sprintf("link set back%d %s", i, map[bool]string{true: "down", false: "up"}[off]))
	}
	for _, p := range n.proxies[i] {
		p.stop(off)
	}
	return nil
}

// addProxies starts the proxies of all replicas.
func (n *network) addProxies(t *testOf) error {
	for i := range replicaNum {
		var both [2]*stoppingProxy
		for d, database := range n.databases {
			p := &stoppingProxy{address: fmt.Sprintf("127.83.%d.%d", i, d+1), to: database + ":5432"}
			p.resumed = sync.NewCond(&p.mu)
			l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.address+":5432")
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = l.Close() })
			go p.serve(l)
			both[d] = p
		}
		n.proxies = append(n.proxies, both)
	}
	return nil
}
