package servers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
)

// Postgres starts PostgreSQL. The address is a URL, for pgx and lib/pq.
func Postgres() (*Server, error) {
	return kind{
		name: "PostgreSQL", variable: "COCOON_TEST_POSTGRES", debian: "postgresql", user: "postgres", program: []string{"postgres"},
		prepare: func(s *Server, dir string) error {
			return s.as("postgres", find("initdb"), "-A", "trust", "-U", "postgres", "--no-sync", "-D", dir).Run()
		},
		arguments: func(dir string, port int) []string {
			return []string{"-D", dir, "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k", dir}
		},
		address: func(port int) string {
			return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
		},
		ping:   func(at string) error { return pingSQL("pgx", at) },
		signal: "INT",
	}.start()
}

// MySQL starts MariaDB or MySQL.
func MySQL() (*Server, error) {
	s, err := kind{
		name: "MySQL", variable: "COCOON_TEST_MYSQL", debian: "mariadb-server", user: "mysql", program: []string{"mariadbd", "mysqld"},
		prepare: func(s *Server, dir string) error {
			if install := find("mariadb-install-db", "mysql_install_db"); install != "" {
				return s.as("mysql", install, "--no-defaults", "--datadir="+dir, "--auth-root-authentication-method=normal", "--skip-test-db").Run()
			}
			return s.as("mysql", find("mysqld"), "--no-defaults", "--initialize-insecure", "--datadir="+dir).Run()
		},
		arguments: func(dir string, port int) []string {
			return []string{
				"--no-defaults", "--datadir=" + dir, "--bind-address=127.0.0.1", fmt.Sprint("--port=", port),
				"--socket=" + dir + "/socket", "--pid-file=" + dir + "/pid", "--innodb-flush-log-at-trx-commit=0",
			}
		},
		address: func(port int) string { return "root@tcp(" + loopback(port) + ")/" },
		ping:    func(at string) error { return pingSQL("mysql", at) },
		signal:  "TERM",
	}.start()
	if err != nil || s.command == nil {
		return s, err
	}
	db, err := sql.Open("mysql", s.Address)
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	defer db.Close()
	if _, err := db.Exec("create database cocoon"); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.Address += "cocoon"
	return s, nil
}

// Redis starts Redis.
func Redis() (*Server, error) {
	return kind{
		name: "Redis", variable: "COCOON_TEST_REDIS", debian: "redis-server", user: "redis", program: []string{"redis-server"},
		arguments: func(_ string, port int) []string {
			return []string{"--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--save", "", "--appendonly", "no"}
		},
		address: loopback,
		ping: func(at string) error {
			c := redis.NewClient(&redis.Options{Addr: at, MaxRetries: -1})
			defer c.Close()
			return c.Ping(context.Background()).Err()
		},
		signal: "TERM",
	}.start()
}

func pingSQL(driver, at string) error {
	db, err := sql.Open(driver, at)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return db.PingContext(ctx)
}
