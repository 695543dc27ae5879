/*
 * confine [option …] -- PROGRAM [argument …]
 *
 * Gives up, for itself and for good, what PROGRAM does not need, and becomes PROGRAM: files by Landlock, system calls
 * by seccomp, resources by rlimits, root's capabilities. Every descriptor but 0–2 (and those of --keep) is closed.
 *
 *   --read PATH        PROGRAM may read the file, or all below the folder; a path that does not exist is left out
 *   --run PATH         the same, and execute it
 *   --write PATH       the same as --read, and write, make and remove
 *   --no-sockets       no socket can be made: no network, no local services
 *   --no-processes     no other process can be started (threads can)
 *   --empty-network    a network namespace of its own, with nothing in it
 *   --cgroup FILE      join the control group of this cgroup.procs
 *   --data-bytes N     limit of the memory that is written to (RLIMIT_DATA)
 *   --cpu-seconds N    limit of the processor time (RLIMIT_CPU)
 *   --file-bytes N     limit of a file that is written (RLIMIT_FSIZE)
 *   --files N          limit of open descriptors
 *   --keep N           do not close descriptor N
 *   --probe            print what this machine offers, `landlock=ABI seccomp=0|1 network=0|1`, and end
 *
 * Ends with 70 and a line on standard error when something that was asked for can't be done.
 *
 * It is built without a C library, so that one small static file runs on every Linux of its architecture.
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

/* Newer than the headers of the systems that this is built on; the numbers are the same on every architecture. */
enum { nr_landlock_create_ruleset = 444, nr_landlock_add_rule = 445, nr_landlock_restrict_self = 446 };
enum { nr_pidfd_send_signal = 424, nr_io_uring_setup = 425, nr_pidfd_open = 434, nr_clone3 = 435, nr_close_range = 436 };
enum { nr_pidfd_getfd = 438, nr_process_madvise = 440, nr_mount_setattr = 442, nr_process_mrelease = 448 };

enum { at_fdcwd = -100, o_path_cloexec = 010000000 | 02000000, enosys = 38, eperm = 1 };
enum { pr_capbset_drop = 24, pr_set_no_new_privs = 38, pr_cap_ambient = 47 };
enum { rlimit_cpu = 0, rlimit_fsize = 1, rlimit_data = 2, rlimit_core = 4, rlimit_nofile = 7 };
enum { clone_thread = 0x00010000, clone_newuser = 0x10000000, clone_newnet = 0x40000000 };
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

/* What each version of the interface can restrict; asking for more is refused whole. */
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

/* What gives a hold on other processes, the kernel or the machine. */
static const int refused_calls[] = {
  __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, nr_process_madvise, nr_process_mrelease,
  nr_pidfd_open, nr_pidfd_getfd, nr_pidfd_send_signal, __NR_kcmp, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
  __NR_tkill, nr_io_uring_setup, nr_io_uring_setup + 1, nr_io_uring_setup + 2, __NR_bpf, __NR_perf_event_open,
  __NR_userfaultfd, __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
  __NR_open_by_handle_at, __NR_name_to_handle_at, 428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */,
  431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, nr_mount_setattr, __NR_keyctl, __NR_add_key,
  __NR_request_key, __NR_personality, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load,
  __NR_kexec_file_load, __NR_reboot, __NR_swapon, __NR_swapoff, __NR_acct, __NR_quotactl,
  __NR_syslog, __NR_settimeofday, __NR_clock_settime, __NR_sethostname, __NR_setdomainname, __NR_fanotify_init,
  __NR_migrate_pages, __NR_move_pages, __NR_sched_setaffinity, __NR_setpriority, __NR_ioprio_set,
  __NR_shmget, __NR_semget, __NR_msgget, __NR_mq_open,
#if defined(__x86_64__)
  __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR_uselib, __NR_ustat,
#endif
};

/* How a process begins, where none may; memfd and execveat would execute what no file holds. */
static const int process_calls[] = {
  __NR_memfd_create, __NR_execveat,
#if defined(__x86_64__)
  __NR_fork, __NR_vfork,
#endif
};

/* A pair of connected sockets leads nowhere, and is how Node makes pipes. */
static const int socket_calls[] = { __NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4 };

static struct sock_filter program[256];
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

/* The call is allowed only when its first argument is this value; `other` too. Leaves the call's number loaded. */
static void allow_only(int call, unsigned value, unsigned other) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (unsigned)call);
  load(argument(0));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, value);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, other);
  give(SECCOMP_RET_ERRNO | eperm);
  give(SECCOMP_RET_ALLOW);
}

static void build_filter(int no_sockets, int no_processes) {
  unsigned own = (unsigned)sys(__NR_getpid, 0, 0, 0, 0, 0);
  load(4);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
  give(SECCOMP_RET_KILL_PROCESS);
  load(0);
#if defined(__x86_64__)
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* the x32 numbers of the same calls */
  give(SECCOMP_RET_KILL_PROCESS);
#endif
  refuse(refused_calls);
  if (no_sockets) refuse(socket_calls);
  if (no_processes) {
    refuse(process_calls);
    /* clone3 keeps its flags in memory, where no filter can read them: the C library then takes clone. */
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, nr_clone3);
    give(SECCOMP_RET_ERRNO | enosys);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, __NR_clone);
    load(argument(0));
    emit(BPF_JMP | BPF_JSET | BPF_K, 1, 0, clone_thread);
    give(SECCOMP_RET_ERRNO | eperm);
    give(SECCOMP_RET_ALLOW);
    /* Signals and limits for itself only; what starts processes has to end them. */
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

/* Without capabilities user 0 is an owner of files, and nothing more. */
static void drop_capabilities(void) {
  unsigned header[2] = { 0x20080522, 0 };
  unsigned sets[6] = { 0 };
  for (int capability = 0; capability < 64; capability++) sys(__NR_prctl, pr_capbset_drop, capability, 0, 0, 0);
  sys(__NR_prctl, pr_cap_ambient, 4, 0, 0, 0);
  if (sys(__NR_capset, (long)header, (long)sets, 0, 0, 0) < 0) fail("capabilities can't be given up", "");
}

/* Root may make it; others first need a user namespace, whose capabilities are given up with all the others. */
static int enter_empty_network(void) {
  return sys(__NR_unshare, clone_newnet, 0, 0, 0, 0) == 0 ||
         sys(__NR_unshare, clone_newuser | clone_newnet, 0, 0, 0, 0) == 0;
}

static void join_group(const char *file) {
  long descriptor = sys(__NR_openat, at_fdcwd, (long)file, o_wronly_cloexec, 0, 0);
  if (descriptor < 0 || sys(__NR_write, descriptor, (long)"0", 1, 0, 0) != 1) fail("can't join ", file);
  sys(__NR_close, descriptor, 0, 0, 0, 0);
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

static void probe(void) {
  char line[] = "landlock=0 seccomp=0 network=0\n";
  long abi = landlock_abi();
  unsigned action = SECCOMP_RET_ERRNO;
  line[9] = (char)('0' + (abi > 9 ? 9 : abi));
  if (sys(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, (long)&action, 0, 0) == 0) line[19] = '1';
  if (enter_empty_network()) line[29] = '1';
  print(1, line);
  sys(__NR_exit_group, 0, 0, 0, 0, 0);
}

static int has_option(char **arguments, const char *option) {
  for (; *arguments && !same(*arguments, "--"); arguments++)
    if (same(*arguments, option)) return 1;
  return 0;
}

/* Closed only by the exec: what is inherited by mistake must not reach the program. */
static void keep_descriptors(char **arguments) {
  sys(nr_close_range, 3, -1, 4, 0, 0);
  for (; *arguments && !same(*arguments, "--"); arguments++)
    if (same(*arguments, "--keep") && arguments[1]) sys(__NR_fcntl, (long)number_of(arguments[1]), 2, 0, 0, 0);
}

__attribute__((used)) static void begin(long *stack) {
  char **arguments = (char **)(stack + 2);
  char **environment = (char **)(stack + 2 + stack[0]);
  if (has_option(arguments, "--probe")) probe();
  int no_sockets = has_option(arguments, "--no-sockets");
  int no_processes = has_option(arguments, "--no-processes");
  int empty_network = has_option(arguments, "--empty-network");
  long abi = landlock_abi();
  if (abi == 0) fail("this kernel has no Landlock", "");
  long ruleset = open_ruleset(abi, !no_sockets);
  if (ruleset < 0) fail("Landlock is refused", "");
  u64 reading = read_file | read_folder;
  u64 writing = file_rights(abi) & ~(u64)(execute | device_ioctl);

  keep_descriptors(arguments);
  limit(rlimit_core, 0);
  for (; *arguments && !same(*arguments, "--"); arguments++) {
    const char *option = *arguments;
    if (same(option, "--no-sockets") || same(option, "--no-processes") || same(option, "--empty-network")) continue;
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
    else if (!same(option, "--keep")) fail("unknown option ", option);
  }
  if (!*arguments || !arguments[1]) fail("no program after --", "");

  if (sys(__NR_prctl, pr_set_no_new_privs, 1, 0, 0, 0) < 0) fail("no_new_privs is refused", "");
  if (empty_network && !enter_empty_network()) fail("no empty network can be made", "");
  drop_capabilities();
  if (sys(nr_landlock_restrict_self, ruleset, 0, 0, 0, 0) < 0) fail("Landlock is refused", "");
  build_filter(no_sockets, no_processes);
  install_filter();
  sys(__NR_execve, (long)arguments[1], (long)(arguments + 1), (long)environment, 0, 0);
  fail("can't execute ", arguments[1]);
}
