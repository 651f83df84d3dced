package scan

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes pairs letters of other scripts with the Latin ones that they cannot be told from in most typefaces, after
// what Unicode's Technical Standard 39 calls a skeleton: two names that have the same one look the same.
var lookalikes = func() map[rune]rune {
	out := map[rune]rune{}
	for _, p := range [][2]string{
		{"асԁеԛһіјкӏмнорѕтухԝүѵгпвёїбз", "acdeqhijklmhopstyxwyvrnbei63"}, // Cyrillic
		{"АВЕІЈКМНОРСТУХԌԚԜҮЅ", "abeijkmhopctyxgqwys"},
		{"αβγεηικνορτυχωϲϳ", "abyenikvoptuxwcj"}, // Greek
		{"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx"},
		{"օսհոցզքյ", "ouhngqfj"},                           // Armenian
		{"ɑɡɩɪʀʏᴄᴅᴇᴊᴋᴍɴᴏᴘᴛᴜᴠᴡᴢı", "agiirycdejkmnoptuvwzi"}, // phonetic letters, and small capitals
		{"ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "abcdehjklmprstvwz"},         // Cherokee
	} {
		to := []rune(p[1])
		for i, r := range []rune(p[0]) {
			out[r] = to[i]
		}
	}
	return out
}()

// skeleton returns what a name looks like: in lower case, without accents, with letters of other scripts as the Latin
// ones they look like, and with what typefaces make alike (1 and l, 0 and o, rn and m) made the same.
func skeleton(name string) string {
	plain := true
	for i := range len(name) {
		if name[i] >= 0x80 {
			plain = false
			break
		}
	}
	if !plain {
		name = norm.NFKD.String(name)
	}
	var b strings.Builder
	for _, r := range name {
		if to, ok := lookalikes[r]; ok {
			b.WriteRune(to)
			continue
		}
		if r = unicode.ToLower(r); unicode.IsMark(r) || invisible(r) {
			continue
		}
		if to, ok := lookalikes[r]; ok {
			r = to
		}
		b.WriteRune(r)
	}
	return b.String()
}

// alike replaces what typefaces make alike. It is safe for concurrent use.
var alike = strings.NewReplacer("1", "l", "|", "l", "0", "o", "5", "s", "rn", "m", "vv", "w")

// appearance is a skeleton in which what typefaces make alike is the same, too: 1 and l, 0 and o, rn and m.
func appearance(name string) string {
	return alike.Replace(skeleton(name))
}

// mixes reports whether a word has letters of another script among Latin ones, and all of them look like Latin ones: a
// word that a person reads as Latin, and a search or a filter does not.
func mixes(word string) bool {
	latin, foreign := false, false
	for _, r := range word {
		switch {
		case r < 0x80 || unicode.Is(unicode.Latin, r) && lookalikes[r] == 0:
			latin = latin || unicode.IsLetter(r)
		case lookalikes[r] != 0 && !unicode.Is(unicode.Latin, r):
			foreign = true
		case unicode.IsLetter(r):
			return false
		}
	}
	return latin && foreign
}
