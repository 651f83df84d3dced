package postgres

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tooldex/internal/redact"
	"tooldex/store"
	"tooldex/tool"
)

// DefaultTenant is the tenant of an address that names none.
const DefaultTenant = "default"

// How long things may take. A look is a statement that reads a few rows; changes and loads may be large.
const (
	connectTimeout = 3 * time.Second
	lookTimeout    = 5 * time.Second
	workTimeout    = 10 * time.Minute
	commitTimeout  = 30 * time.Second
	mostSilence    = 10 * time.Second // after which the other side of a connection is taken for gone
)

// Store is the state of one tenant in a database. It is safe for concurrent use by goroutines, and by any number of
// processes through other Stores. Close it after use.
type Store struct {
	pool      *pgxpool.Pool
	location  string
	health    health
	feed      feed
	owner     owner
	memory    memory
	preparing sync.Mutex
	reached   atomic.Bool   // a connection has prepared the database
	entrance  chan struct{} // has one value while a goroutine of this process is in the queue of changes
}

var _ store.Backend = (*Store)(nil)

// Handles reports whether a setting is the address of a database of this package.
func Handles(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open connects to the database at an address, postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, with
// the parameters of libpq and its environment variables for what the address leaves out. The further parameter tenant
// names the tenant. Open makes the tables if they are missing, or brings those of an older version up to date.
//
// The error is Unavailable if the database cannot be reached; Invalid for an address that cannot be used, for a role
// that row level security does not bind, and for a schema of a newer version; and as described at the package for the
// rest. No error has the password in it.
func Open(ctx context.Context, address string) (*Store, error) {
	s, err := newStore(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := s.reach(ctx); err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// newStore returns a Store that has not connected yet. Its first connection prepares the database.
func newStore(ctx context.Context, address string) (*Store, error) {
	c, tenant, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	s := &Store{location: redact.Address(address), entrance: make(chan struct{}, 1)}
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := prepareSession(ctx, conn, tenant); err != nil {
			return err
		}
		return s.prepare(ctx, conn)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, s.explain("open store", err)
	}
	s.feed.changed = make(chan struct{}, 1)
	return s, nil
}

// reach connects, and so prepares the database.
func (s *Store) reach(ctx context.Context) error {
	ready, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(ready)
	if err != nil {
		return s.note(s.explain("open store", err))
	}
	conn.Release()
	return nil
}

// prepare makes the database ready for this Store, once: it refuses roles that see too much, and makes the tables and
// the tenant.
func (s *Store) prepare(ctx context.Context, conn *pgx.Conn) error {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if s.reached.Load() {
		return nil
	}
	ready, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	for _, step := range []func(context.Context, *pgx.Conn) error{checkRole, s.migrate, ensureHead} {
		if err := step(ready, conn); err != nil {
			return err
		}
	}
	s.reached.Store(true)
	return nil
}

// parseAddress returns how to connect, and the tenant.
func parseAddress(address string) (*pgxpool.Config, string, error) {
	bad := func(why string) error {
		return &tool.Error{
			Code: tool.Invalid, Op: "open store", Msg: "the address of the database cannot be used: " + why,
			Hint: "write postgres://USER@HOST/DATABASE?sslmode=verify-full, with the password in PGPASSWORD or PGPASSFILE",
		}
	}
	u, err := url.Parse(address)
	if err != nil || !Handles(address) { // the error of url.Parse would have the address in it
		return nil, "", bad("it is no URL that begins with postgres://")
	}
	query := u.Query()
	tenant := cmp.Or(query.Get("tenant"), DefaultTenant)
	query.Del("tenant")
	u.RawQuery = query.Encode()
	if len(tenant) > 100 || strings.ContainsRune(tenant, 0) {
		return nil, "", bad("a tenant has at most 100 bytes")
	}
	c, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, "", bad("see its parameters, and the files that they name")
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	// A machine that vanishes without a word is noticed within ten seconds.
	dial := net.Dialer{
		Timeout:         c.ConnConfig.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5},
		Control:         boundSilence(mostSilence),
	}
	c.ConnConfig.DialFunc = dial.DialContext
	// A connection may have died with the server since its last use. By default the pool pings only those that were
	// idle for a second, so that the first uses after a quick restart would fail though the database is back.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	c.ConnConfig.RuntimeParams["search_path"] = schema
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "tooldex"
	}
	return c, tenant, nil
}

// prepareSession names the tenant of a connection. It also has commits wait for the disk where the server's settings
// would not: what is acknowledged must be durable, and on a standby where the server has a synchronous one. Last, the
// server is to end the session of a process that vanishes. In the middle of a change, such a session would keep its
// tenant locked.
func prepareSession(ctx context.Context, conn *pgx.Conn, tenant string) error {
	_, err := conn.Exec(ctx, `SELECT set_config('tooldex.tenant', $1, false), set_config('synchronous_commit',
		CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
		ELSE current_setting('synchronous_commit') END, false), set_config('idle_in_transaction_session_timeout',
		CASE WHEN current_setting('idle_in_transaction_session_timeout') = '0' THEN $2
		ELSE current_setting('idle_in_transaction_session_timeout') END, false),
		set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '1', false),
		set_config('tcp_keepalives_count', '5', false)`,
		tenant, strconv.FormatInt(mostSilence.Milliseconds(), 10))
	return err
}

// checkRole refuses a role that row level security does not bind: it would mix the tenants.
func checkRole(ctx context.Context, conn *pgx.Conn) error {
	var role string
	var unbound bool
	err := conn.QueryRow(ctx, `SELECT rolname::text, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user`).
		Scan(&role, &unbound)
	if err == nil && unbound {
		return &tool.Error{
			Code: tool.Invalid, Op: "open store", Msg: "the role " + role + " of the database may read all tenants",
			Hint: "connect as a role that is neither a superuser nor has BYPASSRLS; docs/guides/scale.md shows how to make it",
		}
	}
	return err
}

// Location returns the address without its password.
func (s *Store) Location() string { return s.location }

// Close ends all connections. The Store cannot be used afterwards.
func (s *Store) Close() error {
	s.feed.close()
	s.owner.close()
	s.pool.Close()
	return nil
}

// Size returns how many bytes the tables of all tenants take on the server's disk.
func (s *Store) Size(ctx context.Context) (n int64, err error) {
	err = s.look(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
			WHERE relnamespace = $1::regnamespace AND relkind = 'r'`, schema).Scan(&n)
	})
	return n, err
}

// look calls fn, which reads a few rows, within a time that bounds how long a database that does not answer is waited
// for.
func (s *Store) look(ctx context.Context, fn func(context.Context) error) error {
	short, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	err := fn(short)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		err = &tool.Error{Code: tool.Unavailable, Op: "store", Msg: "the database at " + s.location + " does not answer", Err: err}
	}
	return s.note(s.explain("read store", err))
}

// health is what the latest use of the database showed.
type health struct {
	mu   sync.Mutex
	away error // guarded by mu; why the database cannot be used, nil if it can
}

// note keeps whether the database could be used, and returns err.
func (s *Store) note(err error) error {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	switch {
	case err == nil || isChanged(err):
		s.health.away = nil
	case tool.CodeOf(err) == tool.Unavailable || tool.CodeOf(err) == tool.Internal:
		s.health.away = err
	}
	return err
}

// Health says whether the database could be used the last time. It does not wait for it.
func (s *Store) Health() []string {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.away == nil {
		return nil
	}
	return []string{s.health.away.Error() + "; searches and calls continue with what was read before, changes are refused"}
}
