// Command release builds what tooldex publishes: a reproducible program for each platform, an archive of each with the
// licences of its modules, packages for Debian, Red Hat, npm and Homebrew, bills of materials, and checksums.
//
//	bin/tools/release binary -version v1.2.3 -commit HASH -o bin/tooldex    one program, for this machine or -platform
//	bin/tools/release archives -version v1.2.3 -commit HASH -o dist         all that is published
//	bin/tools/release verify -version v1.2.3 -commit HASH                   the same twice, from two folders; fails if a bit differs
//	bin/tools/release sbom -o tooldex.cdx.json bin/tooldex                  what a program is made of, as CycloneDX 1.6
//	bin/tools/release notices -o THIRD_PARTY                                the texts of all licences
//	bin/tools/release licences                                              the licences by name; fails if one is not allowed
//
// The bits depend only on the source, the version, the commit and the version of Go. Flags, processor variants and
// experiments of the environment are ignored. Times in archives are SOURCE_DATE_EPOCH, or that of the commit.
package main
