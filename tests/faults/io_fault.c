/* Lets one call of the C library fail: the FAULT_AT-th of kind FAULT_CALL ("any": of all kinds; FAULT_AT 0: every one)
   below the folder FAULT_UNDER, in whichever process and by whichever library, with the number FAULT_ERRNO.
   FAULT_COUNT is a file of 8 bytes that counts for all processes; FAULT_LOG is given kind and path of the call that
   failed, and FAULT_TRACE those of all calls, a line for each. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define NONE (-2)

static _Atomic uint64_t *counter(void) {
    static _Atomic uint64_t *mapped;
    if (!mapped) {
        int file = REAL(open)(getenv("FAULT_COUNT"), O_RDWR | O_CLOEXEC);
        void *found = file < 0 ? MAP_FAILED : REAL(mmap)(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (file >= 0) REAL(close)(file);
        if (found != MAP_FAILED) mapped = found;
    }
    return mapped;
}

static void note(const char *where, const char *call, const char *path) {
    char line[4200];
    int file = where ? REAL(open)(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file < 0) return;
    int size = snprintf(line, sizeof line, "%s %s\n", call, path);
    (void)!REAL(write)(file, line, size < (int)sizeof line ? size : (int)sizeof line - 1);
    REAL(close)(file);
}

static int is_wanted(const char *call) {
    const char *wanted = getenv("FAULT_CALL");
    return wanted && (!strcmp(wanted, "any") || !strcmp(wanted, call));
}

static int fails(const char *call, const char *path) {
    const char *under = getenv("FAULT_UNDER");
    if (!is_wanted(call) || !under || !path || strncmp(path, under, strlen(under))) return 0;
    int before = errno;
    note(getenv("FAULT_TRACE"), call, path);
    errno = before;
    _Atomic uint64_t *count = counter();
    uint64_t at = strtoull(getenv("FAULT_AT"), NULL, 10);
    if (!count || (atomic_fetch_add(count, 1) + 1 != at && at)) return 0;
    note(getenv("FAULT_LOG"), call, path);
    errno = atoi(getenv("FAULT_ERRNO"));
    return 1;
}

/* Whether the call of a file or folder that is open fails; or of a path below a folder that is open. */
static int fails_at(const char *call, int file, const char *path) {
    char link[64], whole[8200];
    if (!is_wanted(call)) return 0;
    if (path && (*path == '/' || file == AT_FDCWD)) return fails(call, path);
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = REAL(readlink)(link, whole, 4095);
    errno = before;
    if (size < 0) return 0;
    if (path && *path) snprintf(whole + size, sizeof whole - size, "/%s", path);
    else whole[size] = 0;
    return fails(call, whole);
}

static int fails_of(const char *call, int file) { return file == NONE ? 0 : fails_at(call, file, NULL); }

static const char *opening(int flags) { return flags & O_CREAT ? "create" : "open"; }

#define OPENS(name, parameters, values, at)                                      \
    int name parameters {                                                        \
        va_list more;                                                            \
        va_start(more, flags);                                                   \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;  \
        va_end(more);                                                            \
        return fails_at(opening(flags), at, path) ? -1 : REAL(name) values;      \
    }
OPENS(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
OPENS(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)
OPENS(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)

#define OPENS_STREAM(name)                                                       \
    FILE *name(const char *restrict path, const char *restrict how) {            \
        return fails(*how == 'r' ? "open" : "create", path) ? NULL : REAL(name)(path, how); \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

#define OF_FILE(type, name, call, parameters, values)                            \
    type name parameters { return fails_of(call, file) ? -1 : REAL(name) values; }
OF_FILE(ssize_t, read, "read", (int file, void *to, size_t size), (file, to, size))
OF_FILE(ssize_t, pread, "read", (int file, void *to, size_t size, off_t at), (file, to, size, at))
OF_FILE(ssize_t, pread64, "read", (int file, void *to, size_t size, off64_t at), (file, to, size, at))
OF_FILE(ssize_t, readv, "read", (int file, const struct iovec *to, int count), (file, to, count))
OF_FILE(ssize_t, preadv, "read", (int file, const struct iovec *to, int count, off_t at), (file, to, count, at))
OF_FILE(ssize_t, write, "write", (int file, const void *from, size_t size), (file, from, size))
OF_FILE(ssize_t, pwrite, "write", (int file, const void *from, size_t size, off_t at), (file, from, size, at))
OF_FILE(ssize_t, pwrite64, "write", (int file, const void *from, size_t size, off64_t at), (file, from, size, at))
OF_FILE(ssize_t, writev, "write", (int file, const struct iovec *from, int count), (file, from, count))
OF_FILE(int, fsync, "fsync", (int file), (file))
OF_FILE(int, fdatasync, "fsync", (int file), (file))
OF_FILE(int, flock, "flock", (int file, int how), (file, how))
OF_FILE(int, ftruncate, "truncate", (int file, off_t size), (file, size))
OF_FILE(int, ftruncate64, "truncate", (int file, off64_t size), (file, size))
OF_FILE(int, fstat, "stat", (int file, struct stat *info), (file, info))
OF_FILE(int, fstat64, "stat", (int file, struct stat64 *info), (file, info))
OF_FILE(ssize_t, sendfile, "write", (int file, int from, off_t *at, size_t size), (file, from, at, size))
OF_FILE(ssize_t, sendfile64, "write", (int file, int from, off64_t *at, size_t size), (file, from, at, size))
OF_FILE(ssize_t, copy_file_range, "write",
        (int from, off64_t *at, int file, off64_t *to, size_t size, unsigned flags), (from, at, file, to, size, flags))

/* What fails has closed the file all the same, as Linux does. */
int close(int file) {
    int failed = fails_of("close", file), before = errno;
    int closed = REAL(close)(file);
    if (failed) errno = before;
    return failed ? -1 : closed;
}

int fcntl64(int file, int what, ...) {
    va_list more;
    va_start(more, what);
    void *value = va_arg(more, void *);
    va_end(more);
    int locks = what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK || what == F_OFD_SETLKW;
    return locks && fails_of("flock", file) ? -1 : REAL(fcntl64)(file, what, value);
}

#define MAPS(name, offset)                                                       \
    void *name(void *at, size_t size, int how, int flags, int file, offset from) { \
        return fails_of("mmap", flags & MAP_ANONYMOUS ? NONE : file) ? MAP_FAILED : REAL(name)(at, size, how, flags, file, from); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

#define OF_PATH(name, call, parameters, values)                                  \
    int name parameters { return fails(call, path) ? -1 : REAL(name) values; }
OF_PATH(rename, "rename", (const char *path, const char *to), (path, to))
OF_PATH(link, "link", (const char *path, const char *to), (path, to))
OF_PATH(unlink, "unlink", (const char *path), (path))
OF_PATH(rmdir, "unlink", (const char *path), (path))
OF_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))
OF_PATH(stat, "stat", (const char *restrict path, struct stat *restrict info), (path, info))
OF_PATH(stat64, "stat", (const char *restrict path, struct stat64 *restrict info), (path, info))
OF_PATH(lstat, "stat", (const char *restrict path, struct stat *restrict info), (path, info))
OF_PATH(lstat64, "stat", (const char *restrict path, struct stat64 *restrict info), (path, info))
OF_PATH(access, "stat", (const char *path, int how), (path, how))

#define OF_PATH_AT(name, call, parameters, values)                               \
    int name parameters { return fails_at(call, at, path) ? -1 : REAL(name) values; }
OF_PATH_AT(renameat, "rename", (int at, const char *path, int there, const char *to), (at, path, there, to))
OF_PATH_AT(linkat, "link", (int at, const char *path, int there, const char *to, int how), (at, path, there, to, how))
OF_PATH_AT(unlinkat, "unlink", (int at, const char *path, int how), (at, path, how))
OF_PATH_AT(mkdirat, "mkdir", (int at, const char *path, mode_t mode), (at, path, mode))
OF_PATH_AT(fstatat, "stat", (int at, const char *restrict path, struct stat *restrict info, int how), (at, path, info, how))
OF_PATH_AT(fstatat64, "stat", (int at, const char *restrict path, struct stat64 *restrict info, int how), (at, path, info, how))
OF_PATH_AT(statx, "stat",
           (int at, const char *restrict path, int how, unsigned mask, struct statx *restrict info), (at, path, how, mask, info))

DIR *opendir(const char *path) { return fails("opendir", path) ? NULL : REAL(opendir)(path); }
DIR *fdopendir(int file) { return fails_of("opendir", file) ? NULL : REAL(fdopendir)(file); }

#define READS_FOLDER(type, name)                                                 \
    type *name(DIR *folder) { return fails_of("readdir", dirfd(folder)) ? NULL : REAL(name)(folder); }
READS_FOLDER(struct dirent, readdir)
READS_FOLDER(struct dirent64, readdir64)
