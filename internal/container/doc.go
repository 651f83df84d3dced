// Command container runs the steps of the Dockerfile, and the program they make, in a root of its own, where there is
// no container engine.
//
//	go run ./internal/container            build, run and check the last stage of ./Dockerfile
//	go run ./internal/container -keep DIR  the same, and leave the files of that stage in DIR
//
// It reads the Dockerfile itself, so that the two cannot part, and refuses an instruction that it does not know. A
// stage FROM an image runs on the files of this machine, which must have what that image is known for (Go, here); a
// stage FROM scratch holds what COPY put there. The program then runs as the Dockerfile's user in namespaces of its
// own: no network but loopback, a root that cannot be written to, an empty /tmp, and the volume. Namespaces need root
// or "unshare -r"; where neither is to be had, it says so, and does what can be done without.
package main
