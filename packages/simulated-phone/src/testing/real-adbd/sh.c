// The shell of a phone whose adbd is real: hands the command line to the simulated phone, and its streams and exit code
// back. The socket takes the line and a NUL; then it speaks ADB's shell protocol: a byte for the kind, four for the length
// (little endian), and the data.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { KIND_STDIN = 0, KIND_STDOUT = 1, KIND_STDERR = 2, KIND_EXIT = 3, KIND_CLOSE_STDIN = 4 };
enum { EXIT_NO_PHONE = 127 };

static int write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return -1;
    bytes += written;
    size -= written;
  }
  return 0;
}

static int read_all(int fd, char *bytes, size_t size) {
  while (size > 0) {
    ssize_t got = read(fd, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    bytes += got;
    size -= got;
  }
  return 0;
}

static int send_packet(int phone, char kind, const char *data, uint32_t size) {
  char head[5] = {kind};
  memcpy(head + 1, &size, sizeof size);
  return write_all(phone, head, sizeof head) || write_all(phone, data, size);
}

static int connect_phone(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/data/phone/shell"};
  int phone = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(phone, (struct sockaddr *)&address, sizeof address) != 0) exit(EXIT_NO_PHONE);
  return phone;
}

/* Whoever read the output may be gone: the program goes on, as on a phone. */
static void take_packet(int phone) {
  char head[5];
  static char data[65536];
  uint32_t size;
  if (read_all(phone, head, sizeof head) != 0) exit(EXIT_NO_PHONE);
  memcpy(&size, head + 1, sizeof size);
  while (size > 0) {
    uint32_t part = size < sizeof data ? size : sizeof data;
    if (read_all(phone, data, part) != 0) exit(EXIT_NO_PHONE);
    if (head[0] == KIND_EXIT) exit((unsigned char)data[0]);
    if (head[0] == KIND_STDOUT || head[0] == KIND_STDERR) write_all(head[0], data, part);
    size -= part;
  }
}

/* Returns whether there may be more. */
static int give_input(int phone) {
  static char data[65536];
  ssize_t got = read(STDIN_FILENO, data, sizeof data);
  if (got < 0 && errno == EINTR) return 1;
  if (got > 0) return send_packet(phone, KIND_STDIN, data, got) == 0;
  send_packet(phone, KIND_CLOSE_STDIN, "", 0);
  return 0;
}

int main(int count, char **arguments) {
  const char *line = count > 2 && strcmp(arguments[1], "-c") == 0 ? arguments[2] : "";
  signal(SIGPIPE, SIG_IGN);
  int phone = connect_phone();
  write_all(phone, line, strlen(line) + 1);
  struct pollfd watched[] = {{.fd = phone, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  for (;;) {
    if (poll(watched, 2, -1) < 0) continue;
    if (watched[0].revents != 0) take_packet(phone);
    if (watched[1].revents != 0 && !give_input(phone)) watched[1].fd = -1;
  }
}
