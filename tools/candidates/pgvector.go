package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgvector is PostgreSQL with the extension vector, which has an index for each branch: the vectors in half precision,
// and the words as sparse vectors of impacts, so that their inner product with a request is the word score.
type pgvector struct {
	conn  *pgx.Conn
	index string // how vectors are indexed: an access method with its parameters
	set   string // what is set for the session before the first search
	words bool   // words are indexed, too, which takes most of the time and space
}

func (p *pgvector) name() string { return "pgvector" }

// openPgvector replaces the table of candidates.
func openPgvector(ctx context.Context, address string, dims int, c config) (*pgvector, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{
		`DROP TABLE IF EXISTS candidate`,
		fmt.Sprintf(`CREATE TABLE candidate (id int PRIMARY KEY, vector halfvec(%d) NOT NULL,
			words sparsevec(1000000) NOT NULL)`, dims),
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	return &pgvector{conn, c.index, c.set, c.words}, nil
}

func (p *pgvector) upsert(ctx context.Context, items []item) error {
	for part := range slices.Chunk(items, 5000) {
		if err := p.copy(ctx, part); err != nil {
			return err
		}
	}
	start := time.Now()
	statements := []string{
		`SET maintenance_work_mem = '1GB'`,
		`CREATE INDEX ON candidate USING ` + strings.Replace(p.index, "(", "(vector halfvec_ip_ops) WITH (", 1),
	}
	if p.words {
		statements = append(statements, `CREATE INDEX ON candidate USING hnsw (words sparsevec_ip_ops)
			WITH (m = 24, ef_construction = 100)`)
	}
	for _, statement := range append(statements, `ANALYZE candidate`, p.set) {
		if _, err := p.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	fmt.Printf("  of which indexes %s\n", time.Since(start).Round(time.Millisecond))
	return nil
}

// copy puts some tools in one transaction.
func (p *pgvector) copy(ctx context.Context, items []item) error {
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TEMPORARY TABLE part (LIKE candidate) ON COMMIT DROP`); err != nil {
			return err
		}
		var b bytes.Buffer
		for i := range items {
			it := &items[i]
			var words []word
			if p.words {
				words = it.words
			}
			fmt.Fprintf(&b, "%d\t%s\t%s\n", it.doc, dense(it.vector), sparse(words, true))
		}
		if _, err := p.conn.PgConn().CopyFrom(ctx, &b, `COPY part FROM STDIN`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO candidate SELECT * FROM part ON CONFLICT (id)
			DO UPDATE SET vector = excluded.vector, words = excluded.words`)
		return err
	})
}

func (p *pgvector) byVector(ctx context.Context, a *ask, n int) ([]int32, error) {
	return p.nearest(ctx, `vector <#> $1::text::halfvec`, dense(a.vector), n)
}

func (p *pgvector) byWords(ctx context.Context, a *ask, n int) ([]int32, error) {
	if !p.words || len(a.words) == 0 {
		return nil, nil
	}
	return p.nearest(ctx, `words <#> $1::text::sparsevec`, sparse(a.words, false), n)
}

// nearest returns the tools of the n least distances.
func (p *pgvector) nearest(ctx context.Context, distance, to string, n int) ([]int32, error) {
	rows, err := p.conn.Query(ctx, `SELECT id FROM candidate ORDER BY `+distance+` LIMIT $2`, to, n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// size returns what the table and each of its indexes take on disk.
func (p *pgvector) size(ctx context.Context) (out string, err error) {
	err = p.conn.QueryRow(ctx, `SELECT format('table %s, indexes %s', pg_size_pretty(pg_table_size('candidate')),
		(SELECT string_agg(pg_size_pretty(pg_relation_size(indexrelid)) || ' ' || indexrelid::regclass, ', ')
		FROM pg_index WHERE indrelid = 'candidate'::regclass))`).Scan(&out)
	return out, err
}

// dense returns a vector in the form of the extension.
func dense(v []float32) string {
	b := make([]byte, 0, 12*len(v))
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', 6, 32)
	}
	return string(append(b, ']'))
}

// sparse returns words as a sparse vector: with their rarity in a tool, without it in a request.
func sparse(words []word, tool bool) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, w := range words {
		weight := w.weight
		if tool {
			weight *= w.rarity
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d:%g", w.id+1, weight)
	}
	b.WriteString("}/1000000")
	return b.String()
}
