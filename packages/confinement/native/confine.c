/*
 * confine [option …] -- PROGRAM [argument …]
 *
 * Permanently drops its rights that PROGRAM does not need, and executes PROGRAM: files by Landlock, system calls by
 * seccomp, resources by rlimits, root's capabilities. Closes every descriptor except 0–2 (and those of --keep).
 *
 *   --read PATH        PROGRAM may read the file, or everything below the folder; a missing path is skipped
 *   --run PATH         as --read, and execute it
 *   --write PATH       as --read, and write, create and remove
 *   --no-sockets       no socket can be created: no network, no local services
 *   --no-processes     no other process can be started (threads can)
 *   --empty-network    a separate, empty network namespace
 *   --own-root         a separate mount namespace with only the paths above; read-only without --write
 *   --cgroup FILE      join the control group of this cgroup.procs
 *   --data-bytes N     limit of writable memory (RLIMIT_DATA)
 *   --cpu-seconds N    limit of CPU time (RLIMIT_CPU)
 *   --file-bytes N     limit of the size of a written file (RLIMIT_FSIZE)
 *   --files N          limit of open descriptors
 *   --keep N           do not close descriptor N
 *   --nice N           nice value, relative to that of the caller
 *   --parent PID       process ID of the caller: PROGRAM and its descendants end with it
 *   --no-watcher       descendants may outlive PROGRAM
 *   --unconfined       apply only --nice, --parent and --no-watcher, without dropping any rights
 *   --probe            print the features of this machine, `landlock=ABI seccomp=0|1 network=0|1 root=0|1`, and exit
 *
 * confine --starter SOCKET PID
 *
 * Starts programs for the process PID, and ends with it: see starter.h.
 *
 * PROGRAM gets its own process group, and keeps the session of the caller: where the kernel first shares the CPUs among
 * sessions (sched_autogroup), nice values only count within one session.
 * Exits with 70 and a line on standard error when an option can't be applied.
 *
 * Built without a C library, so that one small static file runs on every Linux of its architecture.
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

typedef unsigned long ulong;
typedef unsigned long long u64;

/* ---- the system ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call begin\n");
static long sys(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
__asm__(".globl _start\n_start:\n mov x29,#0\n mov x30,#0\n mov x0,sp\n bl begin\n");
static long sys(long number, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#else
#error "confine knows x86-64 and arm64"
#endif

/* Missing in the headers of the build systems; the numbers are the same on every architecture. */
enum { nr_landlock_create_ruleset = 444, nr_landlock_add_rule = 445, nr_landlock_restrict_self = 446 };
enum { nr_pidfd_send_signal = 424, nr_io_uring_setup = 425, nr_pidfd_open = 434, nr_clone3 = 435, nr_close_range = 436 };
enum { nr_pidfd_getfd = 438, nr_process_madvise = 440, nr_mount_setattr = 442, nr_process_mrelease = 448 };
enum { nr_open_tree = 428, nr_move_mount = 429, nr_fchmodat2 = 452, nr_setxattrat = 463, nr_removexattrat = 466 };

enum { at_fdcwd = -100, o_path_cloexec = 010000000 | 02000000, enosys = 38, eperm = 1 };
enum { pr_set_pdeathsig = 1, pr_capbset_drop = 24, pr_set_no_new_privs = 38, pr_cap_ambient = 47 };
enum { sigkill = 9, sigchld = 17 };
enum { rlimit_cpu = 0, rlimit_fsize = 1, rlimit_data = 2, rlimit_core = 4, rlimit_nofile = 7 };
enum { clone_thread = 0x00010000, clone_newns = 0x00020000, clone_newuser = 0x10000000, clone_newnet = 0x40000000 };
enum { o_wronly_cloexec = 01 | 02000000 };

static ulong length_of(const char *text) {
  ulong length = 0;
  while (text[length]) length++;
  return length;
}

static int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static void print(int descriptor, const char *text) {
  sys(__NR_write, descriptor, (long)text, (long)length_of(text), 0, 0);
}

static void fail(const char *what, const char *detail) {
  print(2, "confine: ");
  print(2, what);
  print(2, detail);
  print(2, "\n");
  sys(__NR_exit_group, 70, 0, 0, 0, 0);
  __builtin_unreachable();
}

static ulong number_of(const char *text) {
  ulong value = 0;
  if (!*text) fail("a number is missing", "");
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > (~0ul - 9) / 10) fail("not a number: ", text);
    value = value * 10 + (ulong)(*text - '0');
  }
  return value;
}

/* ---- files: Landlock (Documentation/userspace-api/landlock.rst) ------------------------------------------------- */

struct ruleset { u64 files, net, scoped; };
struct path_rule { u64 access; int folder; } __attribute__((packed));

enum { execute = 1 << 0, read_file = 1 << 2, read_folder = 1 << 3, device_ioctl = 1 << 15 };
enum { bind_and_connect_tcp = 3, abstract_sockets_and_signals = 3 };

static long landlock_abi(void) {
  long abi = sys(nr_landlock_create_ruleset, 0, 0, 1, 0, 0);
  return abi > 0 ? abi : 0;
}

/* Rights that each version of the interface can restrict; requesting others fails as a whole. */
static u64 file_rights(long abi) {
  if (abi >= 5) return (1 << 16) - 1;
  if (abi >= 3) return (1 << 15) - 1;
  return abi == 2 ? (1 << 14) - 1 : (1 << 13) - 1;
}

/* Rights that a rule for a plain file may name. */
static const u64 rights_of_a_file = execute | 1 << 1 | read_file | 1 << 14 | device_ioctl;

static long open_ruleset(long abi, int has_sockets) {
  struct ruleset set = { file_rights(abi), 0, 0 };
  if (abi >= 4 && !has_sockets) set.net = bind_and_connect_tcp;
  if (abi >= 6) set.scoped = abstract_sockets_and_signals;
  long size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  return sys(nr_landlock_create_ruleset, (long)&set, size, 0, 0, 0);
}

static void allow_path(long ruleset, const char *path, u64 access) {
  long descriptor = sys(__NR_openat, at_fdcwd, (long)path, o_path_cloexec, 0, 0);
  if (descriptor < 0) return;
  struct path_rule rule = { access, (int)descriptor };
  long result = sys(nr_landlock_add_rule, ruleset, 1, (long)&rule, 0, 0);
  if (result < 0) {
    rule.access &= rights_of_a_file;
    result = sys(nr_landlock_add_rule, ruleset, 1, (long)&rule, 0, 0);
  }
  if (result < 0) fail("no rule can be made for ", path);
  sys(__NR_close, descriptor, 0, 0, 0, 0);
}

/* ---- system calls: seccomp -------------------------------------------------------------------------------------- */

/* Calls that affect other processes, the kernel or the machine. */
static const int refused_calls[] = {
  __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, nr_process_madvise, nr_process_mrelease,
  nr_pidfd_open, nr_pidfd_getfd, nr_pidfd_send_signal, __NR_kcmp, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
  __NR_tkill, nr_io_uring_setup, nr_io_uring_setup + 1, nr_io_uring_setup + 2, __NR_bpf, __NR_perf_event_open,
  __NR_userfaultfd, __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
  __NR_open_by_handle_at, __NR_name_to_handle_at, nr_open_tree, nr_move_mount, 430 /* fsopen */,
  431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, nr_mount_setattr, __NR_keyctl, __NR_add_key,
  __NR_request_key, __NR_personality, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load,
  __NR_kexec_file_load, __NR_reboot, __NR_swapon, __NR_swapoff, __NR_acct, __NR_quotactl,
  __NR_syslog, __NR_settimeofday, __NR_clock_settime, __NR_sethostname, __NR_setdomainname, __NR_fanotify_init,
  __NR_migrate_pages, __NR_move_pages, __NR_sched_setaffinity, __NR_setpriority, __NR_ioprio_set,
  __NR_shmget, __NR_semget, __NR_msgget, __NR_mq_open, __NR_inotify_init1, __NR_inotify_add_watch,
  /* The group is killed with the program, and the session determines its CPU share. */
  __NR_setsid, __NR_setpgid,
#if defined(__x86_64__)
  __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR_uselib, __NR_ustat, __NR_inotify_init,
#endif
};

/* Calls that start a process, refused when none may start; memfd and execveat would execute code without a file. */
static const int process_calls[] = {
  __NR_memfd_create, __NR_execveat,
#if defined(__x86_64__)
  __NR_fork, __NR_vfork,
#endif
};

/* Calls that Landlock leaves to the owner of a file that can't be opened; refused for programs that write no files. */
static const int attribute_calls[] = {
  __NR_fchmod, __NR_fchmodat, nr_fchmodat2, __NR_fchown, __NR_fchownat, __NR_utimensat,
  __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, nr_setxattrat,
  __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, nr_removexattrat,
#if defined(__x86_64__)
  __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat,
#endif
};

/* Refused only without other processes: a started program may need another working folder. */
static const int folder_calls[] = { __NR_chdir, __NR_fchdir };

/* socketpair stays allowed: a connected pair reaches nobody else, and Node creates its pipes with it. */
static const int socket_calls[] = { __NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4 };

static struct sock_filter program[320];
static unsigned short program_length;

static void emit(unsigned short code, unsigned char if_true, unsigned char if_false, unsigned value) {
  if (program_length == sizeof program / sizeof *program) fail("the filter is too long", "");
  program[program_length++] = (struct sock_filter){ code, if_true, if_false, value };
}

static void load(unsigned offset) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
static void give(unsigned result) { emit(BPF_RET | BPF_K, 0, 0, result); }

static void refuse_calls(const int *calls, ulong count) {
  for (ulong at = 0; at < count; at++) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)calls[at]);
    give(SECCOMP_RET_ERRNO | eperm);
  }
}

#define refuse(list) refuse_calls(list, sizeof list / sizeof *list)
#define argument(index) (16 + 8 * (index))

/* Allows the call only with `value` or `other` as its first argument. Leaves the call's number loaded. */
static void allow_only(int call, unsigned value, unsigned other) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (unsigned)call);
  load(argument(0));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, value);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, other);
  give(SECCOMP_RET_ERRNO | eperm);
  give(SECCOMP_RET_ALLOW);
}

static void build_filter(int no_sockets, int no_processes, int no_writing) {
  unsigned own = (unsigned)sys(__NR_getpid, 0, 0, 0, 0, 0);
  load(4);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
  give(SECCOMP_RET_KILL_PROCESS);
  load(0);
#if defined(__x86_64__)
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* x32 numbers of the same calls */
  give(SECCOMP_RET_KILL_PROCESS);
#endif
  refuse(refused_calls);
  if (no_writing) refuse(attribute_calls);
  if (no_sockets) refuse(socket_calls);
  if (no_processes) {
    refuse(process_calls);
    refuse(folder_calls);
    /* clone3 passes its flags in memory, where no filter can read them; the C library then falls back to clone. */
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, nr_clone3);
    give(SECCOMP_RET_ERRNO | enosys);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, __NR_clone);
    load(argument(0));
    emit(BPF_JMP | BPF_JSET | BPF_K, 1, 0, clone_thread);
    give(SECCOMP_RET_ERRNO | eperm);
    give(SECCOMP_RET_ALLOW);
    /* Signals and limits only for itself; a program that may start processes also has to end them. */
    allow_only(__NR_kill, own, own);
    allow_only(__NR_tgkill, own, own);
    allow_only(__NR_prlimit64, own, 0);
  }
  give(SECCOMP_RET_ALLOW);
}

static void install_filter(void) {
  struct sock_fprog filter = { program_length, program };
  if (sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter, 0, 0) < 0) fail("seccomp is refused", "");
}

/* ---- rights and resources --------------------------------------------------------------------------------------- */

static void limit(int resource, ulong value) {
  ulong both[2] = { value, value };
  if (sys(__NR_prlimit64, 0, resource, (long)both, 0, 0) < 0) fail("a limit can't be set", "");
}

/* The system call returns 20 minus the nice value. */
static long nice_of(long process) { return 20 - sys(__NR_getpriority, 0, process, 0, 0, 0); }

/* Relative to the parent, which may already have lowered the priority of this process. */
static void weigh_less(ulong steps) {
  long nice = nice_of(sys(__NR_getppid, 0, 0, 0, 0, 0)) + (long)steps;
  if (nice_of(0) < nice) sys(__NR_setpriority, 0, 0, nice > 19 ? 19 : nice, 0, 0);
}

/* Without capabilities, user 0 has no more rights than any other owner of files. */
static void drop_capabilities(void) {
  unsigned header[2] = { 0x20080522, 0 };
  unsigned sets[6] = { 0 };
  for (int capability = 0; capability < 64; capability++) sys(__NR_prctl, pr_capbset_drop, capability, 0, 0, 0);
  sys(__NR_prctl, pr_cap_ambient, 4, 0, 0, 0);
  if (sys(__NR_capset, (long)header, (long)sets, 0, 0, 0) < 0) fail("capabilities can't be given up", "");
}

static long write_file(const char *file, const char *text) {
  long descriptor = sys(__NR_openat, at_fdcwd, (long)file, o_wronly_cloexec, 0, 0);
  if (descriptor < 0) return -1;
  long written = sys(__NR_write, descriptor, (long)text, (long)length_of(text), 0, 0);
  sys(__NR_close, descriptor, 0, 0, 0, 0);
  return written;
}

/* Returns `ID ID 1`: maps this user or group to itself in the namespace. */
static const char *mapping(ulong id) {
  static char line[64];
  char *at = line + sizeof line - 1;
  char *digits[2];
  *--at = '1';
  for (int time = 0; time < 2; time++) {
    *--at = ' ';
    ulong rest = id;
    do *--at = (char)('0' + rest % 10); while (rest /= 10);
    digits[time] = at;
  }
  return digits[1];
}

/* Root may create namespaces; others first need a user namespace, whose capabilities are dropped with all others. */
static int enter_namespaces(int flags) {
  ulong user = (ulong)sys(__NR_geteuid, 0, 0, 0, 0, 0);
  ulong group = (ulong)sys(__NR_getegid, 0, 0, 0, 0, 0);
  if (sys(__NR_unshare, flags, 0, 0, 0, 0) == 0) return 1;
  if (sys(__NR_unshare, clone_newuser | flags, 0, 0, 0, 0) < 0) return 0;
  /* Only users that are mapped in the namespace can create files. */
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", mapping(user));
  write_file("/proc/self/gid_map", mapping(group));
  return 1;
}

static void join_group(const char *file) {
  if (write_file(file, "0") != 1) fail("can't join ", file);
}

/* ---- a root of its own ------------------------------------------------------------------------------------------ */

struct mount_attributes { u64 set, clear, propagation, descriptor; };
enum { ms_nosuid = 2, ms_nodev = 4, ms_recursive_private = 0x4000 | 0x40000, detach = 2 };
enum { attribute_read_only = 1, attribute_no_setuid = 2, at_empty_path = 0x1000, at_recursive = 0x8000 };
enum { tree_clone_cloexec = 1 | 02000000, from_descriptor = 4, s_ifmt = 0170000, s_ifdir = 0040000, s_ifreg = 0100000 };

static int is_folder(long descriptor) {
  unsigned short state[128];
  sys(__NR_statx, descriptor, (long)"", at_empty_path, 1, (long)state);
  return (state[14] & s_ifmt) == s_ifdir;
}

/* Creates `path` below the current folder: its parents, and a folder or a file. */
static void make_place(const char *path, int folder) {
  static char part[4096];
  ulong length = 0;
  for (; path[length]; length++) {
    if (length >= sizeof part - 1) fail("too long: ", path);
    part[length] = 0;
    if (path[length] == '/' && length > 0) sys(__NR_mkdirat, at_fdcwd, (long)part, 0755, 0, 0);
    part[length] = path[length];
  }
  part[length] = 0;
  if (folder) sys(__NR_mkdirat, at_fdcwd, (long)part, 0755, 0, 0);
  else sys(__NR_mknodat, at_fdcwd, (long)part, s_ifreg | 0644, 0, 0);
}

static int is_path_option(const char *option) {
  return same(option, "--read") || same(option, "--run") || same(option, "--write");
}

/*
 * Creates a root in the mount namespace of this process that contains only the paths of the options. The mounts are
 * cloned before the folder for the new root is covered, because that folder may contain some of them.
 */
static int make_root(char **arguments, int read_only) {
  static long trees[128];
  static const char *paths[128];
  ulong count = 0;
  if (sys(__NR_mount, 0, (long)"/", 0, ms_recursive_private, 0) < 0) return 0;
  for (; *arguments && !same(*arguments, "--"); arguments++) {
    if (!is_path_option(*arguments)) continue;
    const char *path = *++arguments;
    if (count == sizeof trees / sizeof *trees) fail("too many paths: ", path);
    trees[count] = sys(nr_open_tree, at_fdcwd, (long)path, tree_clone_cloexec | at_recursive, 0, 0);
    if (trees[count] >= 0) paths[count++] = path + 1;
  }
  if (sys(__NR_mount, (long)"none", (long)"/proc", (long)"tmpfs", ms_nosuid | ms_nodev, (long)"mode=755") < 0) return 0;
  if (sys(__NR_chdir, (long)"/proc", 0, 0, 0, 0) < 0) return 0;
  for (ulong at = 0; at < count; at++) {
    make_place(paths[at], is_folder(trees[at]));
    if (sys(nr_move_mount, trees[at], (long)"", at_fdcwd, (long)paths[at], from_descriptor) < 0) return 0;
    sys(__NR_close, trees[at], 0, 0, 0, 0);
  }
  if (sys(__NR_pivot_root, (long)".", (long)".", 0, 0, 0) < 0) return 0;
  if (sys(__NR_umount2, (long)".", detach, 0, 0, 0) < 0 || sys(__NR_chdir, (long)"/", 0, 0, 0, 0) < 0) return 0;
  struct mount_attributes attributes = { attribute_no_setuid | (read_only ? attribute_read_only : 0), 0, 0, 0 };
  return sys(nr_mount_setattr, at_fdcwd, (long)"/", at_recursive, (long)&attributes, sizeof attributes) == 0;
}

/* ---- the end of the caller -------------------------------------------------------------------------------------- */

static int parent_is(long parent) { return sys(__NR_getppid, 0, 0, 0, 0, 0) == parent; }

/* Ends this process with its parent. Must follow all changes of credentials, which reset it. */
static void end_with(long parent) {
  sys(__NR_prctl, pr_set_pdeathsig, sigkill, 0, 0, 0);
  if (!parent_is(parent)) sys(__NR_exit_group, 70, 0, 0, 0, 0);
}

/* Starts a child of the program that kills the program's group once the program has ended, for whatever reason. */
static void watch_group(void) {
  long program_id = sys(__NR_getpid, 0, 0, 0, 0, 0);
  long child = sys(__NR_clone, sigchld, 0, 0, 0, 0);
  if (child < 0) fail("no watcher can be started", "");
  if (child > 0) return;
  u64 all = ~0ull;
  sys(nr_close_range, 0, -1, 0, 0, 0);
  sys(__NR_rt_sigprocmask, 0, (long)&all, 0, 8, 0);
  /* Polls, because no signal would arrive: Landlock denies the program signals to a less confined process. */
  struct { int descriptor; short events, returned; } end = { (int)sys(nr_pidfd_open, program_id, 0, 0, 0, 0), 1, 0 };
  while (parent_is(program_id)) sys(__NR_ppoll, (long)&end, 1, 0, 0, 0);
  sys(__NR_kill, 0, sigkill, 0, 0, 0);
}

#include "starter.h"

/* ---- options ---------------------------------------------------------------------------------------------------- */

static void probe(void) {
  char line[] = "landlock=0 seccomp=0 network=0 root=0\n";
  static char *nothing[] = { 0 };
  long abi = landlock_abi();
  unsigned action = SECCOMP_RET_ERRNO;
  line[9] = (char)('0' + (abi > 9 ? 9 : abi));
  if (sys(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, (long)&action, 0, 0) == 0) line[19] = '1';
  if (enter_namespaces(clone_newnet | clone_newns)) {
    line[29] = '1';
    if (make_root(nothing, 1)) line[36] = '1';
  } else if (enter_namespaces(clone_newnet)) line[29] = '1';
  print(1, line);
  sys(__NR_exit_group, 0, 0, 0, 0, 0);
}

static int has_option(char **arguments, const char *option) {
  for (; *arguments && !same(*arguments, "--"); arguments++)
    if (same(*arguments, option)) return 1;
  return 0;
}

/* Closes descriptors on exec: those inherited by mistake must not reach the program. */
static void keep_descriptors(char **arguments) {
  sys(nr_close_range, 3, -1, 4, 0, 0);
  for (; *arguments && !same(*arguments, "--"); arguments++)
    if (same(*arguments, "--keep") && arguments[1]) sys(__NR_fcntl, (long)number_of(arguments[1]), 2, 0, 0, 0);
}

/* Options without a value. */
static int is_switch(const char *option) {
  return same(option, "--no-sockets") || same(option, "--no-processes") || same(option, "--empty-network") ||
         same(option, "--own-root") || same(option, "--no-watcher") || same(option, "--unconfined");
}

static const char *variable(char **environment, const char *name) {
  ulong length = length_of(name);
  for (; *environment; environment++) {
    ulong at = 0;
    while (at < length && (*environment)[at] == name[at]) at++;
    if (at == length && (*environment)[at] == '=') return *environment + length + 1;
  }
  return "";
}

static void execute_program(char **arguments, char **environment) {
  static char file[4096];
  const char *name = arguments[0];
  sys(__NR_execve, (long)name, (long)arguments, (long)environment, 0, 0);
  for (const char *at = name; *at; at++)
    if (*at == '/') fail("can't execute ", name);
  for (const char *folder = variable(environment, "PATH"); *folder;) {
    ulong length = 0;
    while (*folder && *folder != ':' && length < 2048) file[length++] = *folder++;
    if (*folder) folder++;
    file[length++] = '/';
    for (ulong at = 0; at < 1024 && (file[length + at] = name[at]); at++);
    sys(__NR_execve, (long)file, (long)arguments, (long)environment, 0, 0);
  }
  fail("can't execute ", name);
}

__attribute__((used)) static void begin(long *stack) {
  char **options = (char **)(stack + 2);
  char **arguments = options;
  char **environment = (char **)(stack + 2 + stack[0]);
  if (has_option(options, "--probe")) probe();
  if (stack[0] == 4 && same(options[0], "--starter")) start_others(options[1], (long)number_of(options[2]));
  int unconfined = has_option(options, "--unconfined");
  int no_sockets = has_option(options, "--no-sockets");
  int no_processes = has_option(options, "--no-processes");
  int no_writing = !has_option(options, "--write");
  int own_root = has_option(options, "--own-root");
  int namespaces = (has_option(options, "--empty-network") ? clone_newnet : 0) | (own_root ? clone_newns : 0);
  long parent = 0;
  long ruleset = -1;
  long abi = landlock_abi();
  if (!unconfined) {
    if (abi == 0) fail("this kernel has no Landlock", "");
    ruleset = open_ruleset(abi, !no_sockets);
    if (ruleset < 0) fail("Landlock is refused", "");
    keep_descriptors(options);
    limit(rlimit_core, 0);
  }
  u64 reading = read_file | read_folder;
  u64 writing = file_rights(abi) & ~(u64)(execute | device_ioctl);

  /* The result is ignored: the leader of a session already has its own group. */
  sys(__NR_setpgid, 0, 0, 0, 0, 0);
  for (; *arguments && !same(*arguments, "--"); arguments++) {
    const char *option = *arguments;
    if (is_switch(option)) continue;
    const char *value = *++arguments;
    if (!value) fail("a value is missing after ", option);
    if (same(option, "--read")) allow_path(ruleset, value, reading);
    else if (same(option, "--run")) allow_path(ruleset, value, reading | execute);
    else if (same(option, "--write")) allow_path(ruleset, value, writing);
    else if (same(option, "--cgroup")) join_group(value);
    else if (same(option, "--data-bytes")) limit(rlimit_data, number_of(value));
    else if (same(option, "--cpu-seconds")) limit(rlimit_cpu, number_of(value));
    else if (same(option, "--file-bytes")) limit(rlimit_fsize, number_of(value));
    else if (same(option, "--files")) limit(rlimit_nofile, number_of(value));
    else if (same(option, "--nice")) weigh_less(number_of(value));
    else if (same(option, "--parent")) parent = (long)number_of(value);
    else if (!same(option, "--keep")) fail("unknown option ", option);
  }
  if (!*arguments || !arguments[1]) fail("no program after --", "");

  if (!unconfined) {
    if (sys(__NR_prctl, pr_set_no_new_privs, 1, 0, 0, 0) < 0) fail("no_new_privs is refused", "");
    if (namespaces && !enter_namespaces(namespaces)) fail("no namespaces can be made", "");
    if (own_root && !make_root(options, no_writing)) fail("no root of its own can be made", "");
    drop_capabilities();
  }
  if (parent) end_with(parent);
  if (parent && !no_processes && !has_option(options, "--no-watcher")) watch_group();
  if (!unconfined) {
    if (sys(nr_landlock_restrict_self, ruleset, 0, 0, 0, 0) < 0) fail("Landlock is refused", "");
    build_filter(no_sockets, no_processes, no_writing);
    install_filter();
  }
  execute_program(arguments + 1, environment);
}
