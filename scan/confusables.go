package scan

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"tooldex/tool"
)

// lookalikes pairs letters of other scripts with the Latin ones that they look the same as in most typefaces. It
// follows Unicode's Technical Standard 39: two names with the same skeleton look the same. It is read-only.
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

// nameSkeleton returns what a name looks like: in lower case, without accents and invisible characters, with letters of
// other scripts replaced by the Latin ones that they resemble.
func nameSkeleton(name string) string {
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
		if r = unicode.ToLower(r); unicode.IsMark(r) || isInvisible(r) {
			continue
		}
		if to, ok := lookalikes[r]; ok {
			r = to
		}
		b.WriteRune(r)
	}
	return b.String()
}

// alike replaces what typefaces make alike within ASCII. It is safe for concurrent use.
var alike = strings.NewReplacer("1", "l", "|", "l", "0", "o", "5", "s", "rn", "m", "vv", "w")

// nameAppearance returns the skeleton of a name with 1 and l, 0 and o, 5 and s, rn and m, vv and w made the same.
func nameAppearance(name string) string {
	return alike.Replace(nameSkeleton(name))
}

// nameAppearances returns how a name looks when it is folded. A capital I looks like a small l, though folding makes it
// a small i: a name that has one has a second appearance.
func nameAppearances(name string) []string {
	out := []string{nameAppearance(tool.Fold(name))}
	if strings.Contains(name, "I") {
		out = append(out, nameAppearance(tool.Fold(strings.ReplaceAll(name, "I", "l"))))
	}
	return out
}

// mixesScripts reports whether a word has Latin letters and letters of another script, and all of the others look like
// Latin ones. A person reads such a word as Latin; a search or a filter does not find it.
func mixesScripts(word string) bool {
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
