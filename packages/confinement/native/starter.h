/*
 * confine --starter SOCKET PID: a part of confine.c.
 *
 * Forking a large process takes long, and blocks it until the child is executed. This process is small, and starts
 * programs on its behalf. Standard input contains a secret of 16 bytes, then requests:
 *
 *   u32 length of the rest, u32 id, u32 streams, u32 words, folder NUL, words of the command NUL …, variables NUL …
 *
 * The descriptors 0 to streams - 1 of the program are connections to the abstract socket SOCKET, each of which begins
 * with the secret, u32 id and u32 descriptor. Standard output reports `started ID PID`, `failed ID ERRNO` for programs
 * that could not be started, and `exited PID STATUS` with the status of wait(2).
 */

enum { af_unix = 1, stream_cloexec = 1 | 02000000, f_dupfd_cloexec = 1030, sig_block = 0, sig_setmask = 2, wnohang = 1 };
enum { request_bytes = 1 << 20, most_streams = 8, most_words = 8192, above_streams = 16, e2big = 7 };
enum { no_signal_at_end = 0x4000, executable = 1 };

struct request { unsigned id, streams, words; };
struct greeting { char secret[16]; unsigned id, stream; };
struct poll { int descriptor; short events, returned; };

static char secret[16];
static struct { u64 _align; char bytes[request_bytes + 1]; } read_request;
static char *request_words[most_words];
static struct { short family; char name[108]; } socket_name;

static char *append(char *to, const char *text) {
  while (*text) *to++ = *text++;
  return to;
}

static char *append_number(char *to, ulong value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10); while (value /= 10);
  while (count) *to++ = digits[--count];
  return to;
}

static void tell(const char *what, ulong which, ulong value) {
  char line[64];
  char *end = append_number(append(append_number(append(line, what), which), " "), value);
  *end++ = '\n';
  sys(__NR_write, 1, (long)line, end - line, 0, 0);
}

/* Exits at the end of the input: the process that sends requests is gone. */
static void read_whole(void *to, ulong length) {
  for (char *at = to; length;) {
    long got = sys(__NR_read, 0, (long)at, (long)length, 0, 0);
    if (got <= 0) sys(__NR_exit_group, 0, 0, 0, 0, 0);
    at += got, length -= (ulong)got;
  }
}

static long connect_stream(unsigned id, unsigned stream) {
  struct greeting greeting = { .id = id, .stream = stream };
  for (int at = 0; at < 16; at++) greeting.secret[at] = secret[at];
  long descriptor = sys(__NR_socket, af_unix, stream_cloexec, 0, 0, 0);
  if (descriptor < 0) return descriptor;
  long size = 3 + (long)length_of(socket_name.name + 1);
  long result = sys(__NR_connect, descriptor, (long)&socket_name, size, 0, 0);
  if (result == 0) result = sys(__NR_sendto, descriptor, (long)&greeting, sizeof greeting, no_signal_at_end, 0);
  if (result > 0) return descriptor;
  sys(__NR_close, descriptor, 0, 0, 0, 0);
  return result;
}

/* Runs in the new process. Its streams replace the standard streams of the starter. */
__attribute__((noreturn)) static void become(struct request *request, long *streams) {
  u64 no_signal = 0;
  for (unsigned at = 0; at < request->streams; at++)
    streams[at] = sys(__NR_fcntl, streams[at], f_dupfd_cloexec, above_streams, 0, 0);
  for (unsigned at = 0; at < request->streams; at++)
    if (sys(__NR_dup3, streams[at], at, 0, 0, 0) < 0) sys(__NR_exit_group, 70, 0, 0, 0, 0);
  sys(__NR_rt_sigprocmask, sig_setmask, (long)&no_signal, 0, 8, 0);
  sys(__NR_execve, (long)request_words[0], (long)request_words, (long)(request_words + request->words + 1), 0, 0);
  fail("can't execute ", request_words[0]);
  __builtin_unreachable();
}

/* Splits a request into the words of the command and the variables, each followed by a null pointer. */
static int split_words(char *at, const char *end, unsigned words) {
  unsigned count = 0;
  for (; at < end; at += length_of(at) + 1) {
    if (count == words) request_words[count++] = 0;
    if (count + 2 > most_words) return 0;
    request_words[count++] = at;
  }
  if (words == 0 || count < words) return 0;
  if (count == words) request_words[count++] = 0;
  request_words[count] = 0;
  return 1;
}

static long prepare(struct request *request, char *end, long *streams, unsigned *open) {
  char *folder = (char *)(request + 1);
  *end = 0;
  if (request->streams > most_streams || !split_words(folder + length_of(folder) + 1, end, request->words)) return -e2big;
  long result = sys(__NR_faccessat, at_fdcwd, (long)request_words[0], executable, 0, 0);
  if (result == 0) result = sys(__NR_chdir, (long)folder, 0, 0, 0, 0);
  for (; result >= 0 && *open < request->streams; *open += result >= 0)
    result = streams[*open] = connect_stream(request->id, *open);
  return result;
}

static void start_one(ulong length) {
  struct request *request = (struct request *)read_request.bytes;
  long streams[most_streams];
  unsigned open = 0;
  long result = prepare(request, read_request.bytes + length, streams, &open);
  if (result >= 0) result = sys(__NR_clone, sigchld, 0, 0, 0, 0);
  if (result == 0) become(request, streams);
  while (open) sys(__NR_close, streams[--open], 0, 0, 0, 0);
  sys(__NR_chdir, (long)"/", 0, 0, 0, 0);
  if (result < 0) tell("failed ", request->id, (ulong)-result);
  else tell("started ", request->id, (ulong)result);
}

static void tell_exits(void) {
  int status;
  for (long pid; (pid = sys(__NR_wait4, -1, (long)&status, wnohang, 0, 0)) > 0;) tell("exited ", (ulong)pid, (ulong)status);
}

static void take_request(void) {
  unsigned length;
  read_whole(&length, sizeof length);
  if (length < sizeof(struct request) + 1 || length > request_bytes) fail("a request has the wrong length", "");
  read_whole(read_request.bytes, length);
  start_one(length);
}

__attribute__((noreturn)) static void start_others(const char *name, long parent) {
  u64 child_ended = 1ull << (sigchld - 1);
  char information[128];
  sys(__NR_setpgid, 0, 0, 0, 0, 0);
  end_with(parent);
  sys(nr_close_range, 3, -1, 0, 0, 0);
  sys(__NR_rt_sigprocmask, sig_block, (long)&child_ended, 0, 8, 0);
  struct poll both[2] = { { 0, 1, 0 }, { (int)sys(__NR_signalfd4, -1, (long)&child_ended, 8, 02000000, 0), 1, 0 } };
  if (both[1].descriptor < 0) fail("no signals can be read", "");
  socket_name.family = af_unix;
  for (ulong at = 0; at < 100 && name[at]; at++) socket_name.name[at + 1] = name[at];
  read_whole(secret, sizeof secret);
  for (;;) {
    sys(__NR_ppoll, (long)both, 2, 0, 0, 0);
    if (both[1].returned) {
      sys(__NR_read, both[1].descriptor, (long)information, sizeof information, 0, 0);
      tell_exits();
    }
    if (both[0].returned) take_request();
  }
}
