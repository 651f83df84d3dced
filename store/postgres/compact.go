package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
)

// Compact implements [store.Backend]. The server uses the space that becomes free for other rows; its files need not
// become smaller.
func (s *Store) Compact(ctx context.Context, used store.Used) (*store.Compaction, error) {
	out := &store.Compaction{}
	var err error
	if out.Before, err = s.Size(ctx); err != nil {
		return nil, err
	}
	work, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	err = pgx.BeginFunc(work, s.pool, func(tx pgx.Tx) error {
		now, err := readHead(work, tx, "FOR UPDATE") // nothing is written meanwhile
		if err != nil {
			return err
		}
		if have := now.numbers[ofCatalogue]; have != used.Generation {
			return store.ChangedError(s.location, used.Generation, have)
		}
		return dropUnused(work, tx, used, out)
	})
	if err == nil {
		_, err = s.pool.Exec(work, `VACUUM vector, analysis`)
	}
	if err != nil {
		return nil, s.note(s.explain("compact", err))
	}
	out.After, err = s.Size(ctx)
	return out, err
}

// dropUnused drops the vectors and analyses that are not in used, and counts them in out.
func dropUnused(ctx context.Context, tx pgx.Tx, used store.Used, out *store.Compaction) error {
	var names, fingerprints []string
	var dims []int32
	for _, m := range used.Models {
		names, fingerprints, dims = append(names, m.Name), append(fingerprints, m.Fingerprint), append(dims, int32(m.Dims))
	}
	var texts []store.TextHash
	for h, ok := range used.Texts {
		if ok {
			texts = append(texts, h)
		}
	}
	tag, err := tx.Exec(ctx, `DELETE FROM vector v WHERE NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[], $3::int[])
			AS m(model, fingerprint, dims) WHERE (m.model, m.fingerprint, m.dims) = (v.model, v.fingerprint, v.dims))
		OR NOT EXISTS (SELECT FROM unnest($4::bytea[]) AS t(h) WHERE t.h = v.text)`, names, fingerprints, dims, bytesOf(texts))
	if err != nil {
		return err
	}
	out.Vectors = int(tag.RowsAffected())
	var tools []tool.Hash
	for h, ok := range used.Analyses {
		if ok {
			tools = append(tools, h)
		}
	}
	versions := append([]string{}, used.Knowledge...)
	tag, err = tx.Exec(ctx, `DELETE FROM analysis a WHERE a.knowledge <> ALL($1)
		OR NOT EXISTS (SELECT FROM unnest($2::bytea[]) AS t(h) WHERE t.h = a.tool)`, versions, bytesOf(tools))
	out.Analyses = int(tag.RowsAffected())
	return err
}
