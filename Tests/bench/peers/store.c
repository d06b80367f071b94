/* The rows of a post and the rows of a page by SQLite's C interface alone: what Parley's store is held against.

     store post DATABASE BATCH SECONDS     inserts in transactions of BATCH messages, each with a sync
     store page DATABASE SEQ SECONDS       fifty messages before that seq; 0 is the newest
     store json DATABASE SEQ SECONDS       the same, written as JSON

   The database is one that `parley-bench store plant` has made. Rows, indices and pragmas are Parley's; the texts are
   taken from the planted messages. Nothing is asked before it is written: where each conversation and stream stands is
   kept in variables, and the fingerprint is any 32 bytes. */

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PEOPLE = 64, LONG = 65, FIRST_BUSY = 66, BUSY = 8, TEXTS = 4096, MOST_IN_BATCH = 1024, MOST_TIMES = 10000000 };

static sqlite3 *database;

static void check(int code, int wanted) {
  if (code == wanted) return;
  fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0), SQLITE_OK); }

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, 0), SQLITE_OK);
  return statement;
}

static void finish(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), SQLITE_DONE);
  sqlite3_reset(statement);
}

static int64_t number(const char *sql) {
  sqlite3_stmt *statement = prepare(sql);
  int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return value;
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static double times[MOST_TIMES];
static int time_count;

static int by_size(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void report(int64_t operations, double seconds) {
  qsort(times, time_count, sizeof *times, by_size);
  printf("{\"operations\":%lld,\"seconds\":%f,\"errors\":0,\"p50_us\":%f,\"p99_us\":%f}\n", (long long)operations,
         seconds, times[time_count / 2] * 1e6, times[(int)(time_count * 0.99)] * 1e6);
}

/* Parley's own, as Sources/Shared/SQLite/Connection.swift sets them. */
static void configure(void) {
  run("pragma mmap_size = 0; pragma temp_store = memory; pragma cell_size_check = on; pragma foreign_keys = on;"
      "pragma cache_size = -16384; pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on");
}

/* Inserting. */

static char *texts[TEXTS];
static const char *said[MOST_IN_BATCH];
static int text_count;
static int64_t seq[BUSY], last[BUSY], head[BUSY];
static int64_t id, event;
static uint64_t state = 88172645463325252ull;

static uint64_t random_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void look(void) {
  sqlite3_stmt *statement = prepare("select text from message limit 4096");
  while (sqlite3_step(statement) == SQLITE_ROW) texts[text_count++] = strdup((const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  if (text_count == 0) exit(1);
  id = number("select value from counter where name = 'id'");
  event = number("select value from counter where name = 'event'");
  statement = prepare(
      "select c.id, c.last_seq, c.last_message_id, coalesce(s.head, 0) from conversation c "
      "left join stream s on s.id = 4 * c.id + 3 where c.id between 66 and 73");
  while (sqlite3_step(statement) == SQLITE_ROW) {
    int room = sqlite3_column_int(statement, 0) - FIRST_BUSY;
    seq[room] = sqlite3_column_int64(statement, 1);
    last[room] = sqlite3_column_int64(statement, 2);
    head[room] = sqlite3_column_int64(statement, 3);
  }
  sqlite3_finalize(statement);
  state ^= (uint64_t)id << 20;
}

static void post(int batch, double limit) {
  if (batch < 1 || batch > MOST_IN_BATCH) exit(2);
  look();
  sqlite3_stmt *message = prepare(
      "insert into message (id, conversation_id, seq, previous_message, author_id, client_id, kind, text, machine_only, "
      "created_at) values (?, ?, ?, ?, ?, ?, 'message', ?, 0, ?)");
  sqlite3_stmt *conversation = prepare("update conversation set last_seq = ?, last_message_id = ? where id = ?");
  sqlite3_stmt *idempotency = prepare(
      "insert into idempotency (author_id, kind, client_id, subject, fingerprint) values (?, 'message', ?, ?, ?)");
  sqlite3_stmt *stream = prepare(
      "insert into stream (id, head, last_event) values (?, 1, ?) "
      "on conflict (id) do update set head = head + 1, last_event = excluded.last_event");
  sqlite3_stmt *log = prepare(
      "insert into event (id, stream, stream_offset, kind, subject, revision, actor, at) values (?, ?, ?, 0, ?, 1, ?, ?)");
  sqlite3_stmt *search = prepare("insert into search (rowid, words, scope) values (?, ?, ?)");
  sqlite3_stmt *counter = prepare("update counter set value = case name when 'id' then ? else ? end");
  double start = now(CLOCK_MONOTONIC), end = start + limit, before = start;
  int64_t count = 0;
  while (before < end && time_count < MOST_TIMES) {
    run("begin immediate");
    int64_t indexed = id;
    for (int i = 0; i < batch; i++) {
      int author = (int)(count++ % PEOPLE), room = author % BUSY;
      int64_t at = (int64_t)(now(CLOCK_REALTIME) * 1000);
      const char *text = texts[random_number() % text_count];
      char client[32];
      snprintf(client, sizeof client, "%llx", (unsigned long long)random_number());
      uint64_t fingerprint[4] = {random_number(), random_number(), random_number(), random_number()};
      id++;
      event++;
      sqlite3_bind_int64(message, 1, id);
      sqlite3_bind_int64(message, 2, room + FIRST_BUSY);
      sqlite3_bind_int64(message, 3, ++seq[room]);
      if (last[room]) sqlite3_bind_int64(message, 4, last[room]);
      else sqlite3_bind_null(message, 4);
      sqlite3_bind_int64(message, 5, author + 1);
      sqlite3_bind_text(message, 6, client, -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(message, 7, text, -1, SQLITE_STATIC);
      sqlite3_bind_int64(message, 8, at);
      finish(message);
      sqlite3_bind_int64(conversation, 1, seq[room]);
      sqlite3_bind_int64(conversation, 2, last[room] = id);
      sqlite3_bind_int64(conversation, 3, room + FIRST_BUSY);
      finish(conversation);
      sqlite3_bind_int64(idempotency, 1, author + 1);
      sqlite3_bind_text(idempotency, 2, client, -1, SQLITE_TRANSIENT);
      sqlite3_bind_int64(idempotency, 3, id);
      sqlite3_bind_blob(idempotency, 4, fingerprint, sizeof fingerprint, SQLITE_TRANSIENT);
      finish(idempotency);
      sqlite3_bind_int64(stream, 1, 4 * (room + FIRST_BUSY) + 3);
      sqlite3_bind_int64(stream, 2, event);
      finish(stream);
      sqlite3_bind_int64(log, 1, event);
      sqlite3_bind_int64(log, 2, 4 * (room + FIRST_BUSY) + 3);
      sqlite3_bind_int64(log, 3, ++head[room]);
      sqlite3_bind_int64(log, 4, id);
      sqlite3_bind_int64(log, 5, author + 1);
      sqlite3_bind_int64(log, 6, at);
      finish(log);
      said[i] = text;
    }
    /* FTS5 writes what it has gathered whenever another statement begins a savepoint, so the words go in last. */
    for (int i = 0; i < batch; i++) {
      int author = (int)((count - batch + i) % PEOPLE), room = author % BUSY;
      char scope[32];
      snprintf(scope, sizeof scope, "c%d a%d", room + FIRST_BUSY, author + 1);
      sqlite3_bind_int64(search, 1, ++indexed);
      sqlite3_bind_text(search, 2, said[i], -1, SQLITE_STATIC);
      sqlite3_bind_text(search, 3, scope, -1, SQLITE_TRANSIENT);
      finish(search);
    }
    sqlite3_bind_int64(counter, 1, id);
    sqlite3_bind_int64(counter, 2, event);
    finish(counter);
    run("commit");
    double after = now(CLOCK_MONOTONIC);
    times[time_count++] = after - before;
    before = after;
  }
  report(count, before - start);
}

/* Reading. */

static char written[1 << 20];

static char *write_number(char *end, int64_t value) {
  char digits[20];
  int count = 0;
  if (value < 0) *end++ = '-';
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do digits[count++] = '0' + rest % 10;
  while (rest /= 10);
  while (count) *end++ = digits[--count];
  return end;
}

static char *write_text(char *end, const unsigned char *text, int length) {
  *end++ = '"';
  for (int i = 0; i < length; i++)
    if (text[i] < 32) end += sprintf(end, "\\u%04x", text[i]);
    else {
      if (text[i] == '"' || text[i] == '\\') *end++ = '\\';
      *end++ = text[i];
    }
  *end++ = '"';
  return end;
}

/* The planted texts are short: fifty rows are some 20 KB. */
static char *write_row(char *end, sqlite3_stmt *statement) {
  for (int column = 0; column < 23; column++) {
    *end++ = column ? ',' : '{';
    const char *name = sqlite3_column_name(statement, column);
    end = write_text(end, (const unsigned char *)name, (int)strlen(name));
    *end++ = ':';
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_TEXT:
        end = write_text(end, sqlite3_column_text(statement, column), sqlite3_column_bytes(statement, column));
        break;
      case SQLITE_NULL:
        memcpy(end, "null", 4);
        end += 4;
        break;
      default: end = write_number(end, sqlite3_column_int64(statement, column));
    }
  }
  *end++ = '}';
  return end;
}

static void page(int64_t before_seq, double limit, int as_json) {
  sqlite3_stmt *statement = prepare(
      "select id, conversation_id, seq, previous_message, author_id, client_id, kind, text, entities, annotations, "
      "reply_to, machine_only, created_at, sent_at, edited_at, edited_by, revision, deletion, deleted_at, deleted_by, "
      "reason, moved_from, moved_to from message where conversation_id = 65 and seq < ? order by seq desc limit 50");
  double start = now(CLOCK_MONOTONIC), end = start + limit, before = start;
  int64_t count = 0, bytes = 0;
  while (before < end && time_count < MOST_TIMES) {
    sqlite3_bind_int64(statement, 1, before_seq ? before_seq : INT64_MAX);
    char *end = written;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      if (as_json) {
        end = write_row(end, statement);
        continue;
      }
      for (int column = 0; column < 23; column++)
        if (sqlite3_column_type(statement, column) == SQLITE_TEXT) {
          const unsigned char *text = sqlite3_column_text(statement, column);
          bytes += text[0] + sqlite3_column_bytes(statement, column);
        } else
          bytes += sqlite3_column_int64(statement, column);
    }
    bytes += end - written;
    sqlite3_reset(statement);
    double after = now(CLOCK_MONOTONIC);
    times[time_count++] = after - before;
    before = after;
    count++;
  }
  if (bytes == 0) exit(1);
  report(count, before - start);
}

int main(int count, char **words) {
  if (count != 5) {
    fprintf(stderr, "store post|page|json DATABASE BATCH|SEQ SECONDS\n");
    return 2;
  }
  check(sqlite3_open(words[2], &database), SQLITE_OK);
  configure();
  if (words[1][0] == 'p' && words[1][1] == 'o') post(atoi(words[3]), atof(words[4]));
  else page(atoll(words[3]), atof(words[4]), words[1][0] == 'j');
  return 0;
}
