// Package ssrf keeps what others send us to fetch away from private addresses.
//
// A server that a person configured may lie wherever that person says. Where it sends us next is another matter: a
// redirect, a page of metadata or an authorization server that it names could lie on this machine, in its network, or
// at a cloud's metadata service, which answer to us and not to them. A [Guard] looks at each address as it is dialed,
// after names have been resolved, so that a name that resolves to something else the next time is seen, too.
package ssrf
