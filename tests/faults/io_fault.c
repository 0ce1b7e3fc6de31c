/* Lets one call of the C library fail: the FAULT_AT-th of kind FAULT_CALL below the folder FAULT_UNDER, in whichever
   process, with the number FAULT_ERRNO. FAULT_COUNT is a file of 8 bytes that counts for all processes; FAULT_LOG is
   given the path. Loaded with LD_PRELOAD. */
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static _Atomic uint64_t *counter(void) {
    static _Atomic uint64_t *mapped;
    if (!mapped) {
        int file = REAL(open)(getenv("FAULT_COUNT"), O_RDWR | O_CLOEXEC);
        void *found = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (file >= 0) REAL(close)(file);
        if (found != MAP_FAILED) mapped = found;
    }
    return mapped;
}

static int fails(const char *call, const char *path) {
    const char *wanted = getenv("FAULT_CALL"), *under = getenv("FAULT_UNDER"), *log = getenv("FAULT_LOG");
    if (!wanted || !under || !path || strcmp(call, wanted) || strncmp(path, under, strlen(under))) return 0;
    _Atomic uint64_t *count = counter();
    uint64_t at = strtoull(getenv("FAULT_AT"), NULL, 10);
    if (!count || (atomic_fetch_add(count, 1) + 1 != at && at)) return 0;
    int file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) {
        (void)!REAL(write)(file, path, strlen(path));
        REAL(close)(file);
    }
    errno = atoi(getenv("FAULT_ERRNO"));
    return 1;
}

static int fails_of(const char *call, int file) {
    char link[64], path[4096];
    if (!getenv("FAULT_CALL") || strcmp(call, getenv("FAULT_CALL"))) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return fails(call, path);
}

#define OPENS(name)                                                              \
    int name(const char *path, int flags, ...) {                                 \
        va_list more;                                                            \
        va_start(more, flags);                                                   \
        mode_t mode = va_arg(more, mode_t);                                      \
        va_end(more);                                                            \
        const char *call = flags & O_CREAT ? "create" : "open";                  \
        return fails(call, path) ? -1 : REAL(name)(path, flags, mode);           \
    }
OPENS(open)
OPENS(open64)

#define OF_FILE(type, name, call, arguments, values)                             \
    type name arguments { return fails_of(call, file) ? -1 : REAL(name) values; }
OF_FILE(ssize_t, read, "read", (int file, void *to, size_t size), (file, to, size))
OF_FILE(ssize_t, pread, "read", (int file, void *to, size_t size, off_t at), (file, to, size, at))
OF_FILE(ssize_t, pread64, "read", (int file, void *to, size_t size, off64_t at), (file, to, size, at))
OF_FILE(ssize_t, write, "write", (int file, const void *from, size_t size), (file, from, size))
OF_FILE(ssize_t, pwrite, "write", (int file, const void *from, size_t size, off_t at), (file, from, size, at))
OF_FILE(ssize_t, pwrite64, "write", (int file, const void *from, size_t size, off64_t at), (file, from, size, at))
OF_FILE(int, fsync, "fsync", (int file), (file))
OF_FILE(int, fdatasync, "fsync", (int file), (file))
OF_FILE(int, flock, "flock", (int file, int how), (file, how))
OF_FILE(int, ftruncate, "truncate", (int file, off_t size), (file, size))
OF_FILE(int, ftruncate64, "truncate", (int file, off64_t size), (file, size))

#define OF_PATH(name, call, arguments, values)                                   \
    int name arguments { return fails(call, path) ? -1 : REAL(name) values; }
OF_PATH(rename, "rename", (const char *path, const char *to), (path, to))
OF_PATH(unlink, "unlink", (const char *path), (path))
OF_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))
OF_PATH(stat, "stat", (const char *path, struct stat *info), (path, info))
OF_PATH(stat64, "stat", (const char *path, struct stat64 *info), (path, info))

DIR *opendir(const char *path) { return fails("opendir", path) ? NULL : REAL(opendir)(path); }

#define READS_FOLDER(type, name)                                                 \
    type *name(DIR *folder) { return fails_of("readdir", dirfd(folder)) ? NULL : REAL(name)(folder); }
READS_FOLDER(struct dirent, readdir)
READS_FOLDER(struct dirent64, readdir64)
