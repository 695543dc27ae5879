/*
 * Attacks of native code in a compromised sandbox process: the constructor of this library runs when it is loaded,
 * outside any isolate and engine. Prints a line for each attempt: its name, and `done` or the error number.
 * -D defines HOST, SIBLING (process IDs), PORT (of a listener on this machine), SECRET and FOLDER (paths).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void tell(const char *name, long result) {
  dprintf(2, "%s: ", name);
  if (result < 0) dprintf(2, "refused %d\n", errno);
  else dprintf(2, "done\n");
}

static long of_process(int process, const char *file) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", process, file);
  return open(path, O_RDONLY);
}

static long read_memory(int process) {
  char own[8];
  struct iovec local = { own, sizeof own }, remote = { own, sizeof own };
  long result = process_vm_readv(process, &local, 1, &remote, 1, 0);
  /* The address may be unmapped there; reaching it at all counts as success. */
  return result < 0 && errno == EFAULT ? 0 : result;
}

static long reach(int family, int kind) {
  int descriptor = socket(family, kind, 0);
  if (descriptor < 0) return -1;
  struct sockaddr_in service = { .sin_family = AF_INET, .sin_port = htons(PORT) };
  service.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return family == AF_INET ? connect(descriptor, (struct sockaddr *)&service, sizeof service) : 0;
}

static long start_process(void) {
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((int)child, 0, 0);
  return child;
}

static long execute(void) {
  long child = vfork();
  if (child < 0) return -1;
  if (child == 0) {
    execl("/bin/true", "true", (char *)0);
    _exit(1);
  }
  int status = 0;
  waitpid((int)child, &status, 0);
  return status == 0 ? 0 : -1;
}

static long look_at(const char *path) {
  struct stat state;
  return stat(path, &state);
}

static long size_of_disk(const char *path) {
  struct statfs disk;
  return statfs(path, &disk);
}

static long watch(const char *path) {
  int watcher = inotify_init1(0);
  return watcher < 0 ? -1 : inotify_add_watch(watcher, path, IN_ALL_EVENTS);
}

/* Uses the number, as code does that knows newer calls. */
static long change_mode_at(const char *path) { return syscall(452, AT_FDCWD, path, 0700, 0); }

/* A separate group would outlive the host; a separate session would get as much CPU share as the host. */
static long leave_group(void) { return setpgid(0, 0); }

/* Whether an inherited descriptor leads to the secret. Only the host's pipes and the broker may be open. */
static long find_descriptor(void) {
  for (int number = 4; number < 256; number++) {
    char path[64], target[256] = { 0 };
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, SECRET)) return 0;
  }
  errno = ENOENT;
  return -1;
}

/* The only descriptor that stays open for the broker is a socket. */
static void tell_broker(void) {
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  dprintf(2, "broker: %s\n", getpeername(3, (struct sockaddr *)&peer, &size) == 0 && peer.ss_family == AF_UNIX ? "connected" : "missing");
}

__attribute__((constructor)) static void begin(void) {
  tell("read a file of the host", open(SECRET, O_RDONLY));
  tell("list the folders", (long)opendir("/") ? 0 : -1);
  tell("write a file", open(FOLDER "/made", O_CREAT | O_WRONLY, 0600));
  tell("remove a file", unlink(SECRET ".more"));
  tell("see a file of the host", look_at(SECRET));
  tell("see the folder of the host", look_at(FOLDER));
  tell("ask for access to a file of the host", access(SECRET, F_OK));
  tell("see the disk of the host", size_of_disk(FOLDER));
  tell("change the mode of a file", chmod(SECRET, 0600));
  tell("change the mode of a file by its descriptor's call", change_mode_at(SECRET));
  tell("change the owner of a file", chown(SECRET, getuid(), getgid()));
  tell("change the times of a file", utimes(SECRET, 0));
  tell("set an attribute of a file", setxattr(SECRET, "user.phalanx", "x", 1, 0));
  tell("remove an attribute of a file", removexattr(SECRET, "user.phalanx"));
  tell("change into the folder of the host", chdir(FOLDER));
  tell("watch the folder of the host", watch(FOLDER));
  tell("leave its process group", leave_group());
  tell("make a session", setsid());
  tell("read the environment of the host", of_process(HOST, "environ"));
  tell("open the memory of the host", of_process(HOST, "mem"));
  tell("read the memory of the host", read_memory(HOST));
  tell("trace the host", ptrace(PTRACE_SEIZE, HOST, 0, 0));
  tell("signal the host", kill(HOST, 0));
  tell("signal another sandbox process", kill(SIBLING, 0));
  tell("read the memory of another sandbox process", read_memory(SIBLING));
  tell("connect to this machine", reach(AF_INET, SOCK_STREAM));
  tell("send to the network", reach(AF_INET, SOCK_DGRAM));
  tell("make a local socket", reach(AF_UNIX, SOCK_STREAM));
  tell("make a socket of the kernel", reach(AF_NETLINK, SOCK_RAW));
  tell("start a process", start_process());
  tell("execute a program", execute());
  tell("make a namespace", unshare(CLONE_NEWUSER));
  tell("make an io_uring", syscall(425, 1, 0));
  tell("find an inherited descriptor", find_descriptor());
  tell_broker();
}
