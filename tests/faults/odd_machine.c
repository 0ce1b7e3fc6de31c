/* A machine whose clock and file times are odd. Loaded with LD_PRELOAD.

   CLOCK_BACK: so many seconds the clock is set back, once this process has renamed CLOCK_AFTER files (0: from the start).
   TIMES_FROM: this second of 1970 lasts for ever, and all files below TIMES_UNDER were changed in it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long renamed;

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

int rename(const char *from, const char *to) {
    renamed++;
    return REAL(rename)(from, to);
}


int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = REAL(clock_gettime)(clock, now);
    if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
    long from = number("TIMES_FROM");
    if (from) *now = (struct timespec){from, now->tv_sec - from + now->tv_nsec / 10};
    if (renamed >= number("CLOCK_AFTER")) now->tv_sec -= number("CLOCK_BACK");
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    *now = (struct timeval){found.tv_sec, found.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (out) *out = found.tv_sec;
    return found.tv_sec;
}

static int is_below(const char *path) {
    const char *under = getenv("TIMES_UNDER");
    return under && path && !strncmp(path, under, strlen(under));
}

static int is_open_below(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return is_below(path);
}

#define TIMES(name, below, arguments, values)                              \
    int name arguments {                                                         \
        int failed = REAL(name) values;                                          \
        if (!failed && below) {                                                  \
            info->st_mtim = info->st_ctim = (struct timespec){number("TIMES_FROM"), 0}; \
        }                                                                        \
        return failed;                                                           \
    }
TIMES(stat, is_below(path), (const char *restrict path, struct stat *restrict info), (path, info))
TIMES(stat64, is_below(path), (const char *restrict path, struct stat64 *restrict info), (path, info))
TIMES(lstat, is_below(path), (const char *restrict path, struct stat *restrict info), (path, info))
TIMES(lstat64, is_below(path), (const char *restrict path, struct stat64 *restrict info), (path, info))
TIMES(fstat, is_open_below(file), (int file, struct stat *info), (file, info))
TIMES(fstat64, is_open_below(file), (int file, struct stat64 *info), (file, info))
TIMES(fstatat, is_below(path),
      (int at, const char *restrict path, struct stat *restrict info, int how), (at, path, info, how))
TIMES(fstatat64, is_below(path),
      (int at, const char *restrict path, struct stat64 *restrict info, int how), (at, path, info, how))
