/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A program that links no libavfilter and comes by filters in odd ways:
 *
 *   lookups order MODEL LIBRARY...  opens each as Python opens its extensions, and
 *                                   has all of them consume, twice
 *   lookups late MODEL LIBRARY      looks for a filter before there is any libavfilter
 *   lookups race ROUNDS LAVFI LIBRARY  lists filters for the first time while another
 *                                   thread opens and closes LIBRARY
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *open_local(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

static int consume_with(void *library, const char *model)
{
    int (*consume)(const char *);
    *(void **)&consume = dlsym(library, "consume");
    return consume ? consume(model) : 1;
}

static int in_order(const char *model, char **paths)
{
    void *libraries[8];
    int count = 0, failed = 0;
    for (; paths[count]; count++)
        libraries[count] = open_local(paths[count]);
    for (int i = 0; i < 2 * count; i++)
        failed += consume_with(libraries[i % count], model);
    return failed;
}

static int late(const char *model, const char *path)
{
    const void *(*get_by_name)(const char *);
    *(void **)&get_by_name = dlsym(RTLD_DEFAULT, "avfilter_get_by_name");
    for (int i = 0; i < 3; i++)
        if (!get_by_name || get_by_name("dnn_torch") || get_by_name("null"))
            return 1;
    return consume_with(open_local(path), model);
}

typedef int Callback(struct dl_phdr_info *info, size_t size, void *data);
typedef struct Visit {
    Callback *callback;
    void *data;
} Visit;

/* While the linker's list is locked, so that another thread's dlopen() comes to wait for it. */
static int visit_slowly(struct dl_phdr_info *info, size_t size, void *opaque)
{
    const Visit *visit = opaque;
    usleep(1000);
    return visit->callback(info, size, visit->data);
}

/* Stands before libc's. */
int dl_iterate_phdr(Callback *callback, void *data)
{
    int (*real)(Callback *, void *);
    Visit visit = {callback, data};
    *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return real(visit_slowly, &visit);
}

static void *open_and_close(void *path)
{
    for (;;)
        dlclose(open_local(path));
    return NULL;
}

/* Ends with the number of filters, or by SIGALRM. */
static int list_in_a_race(const char *lavfi, char *path)
{
    const void *(*iterate)(void **), *filter;
    pthread_t thread;
    void *cursor = NULL;
    int found = 0;

    alarm(20); // a deadlock; opening alone takes seconds on a busy machine
    open_local(lavfi);
    *(void **)&iterate = dlsym(RTLD_DEFAULT, "av_filter_iterate");
    if (!iterate || pthread_create(&thread, NULL, open_and_close, path))
        return 0;
    usleep(2000);
    while ((filter = iterate(&cursor)))
        found++;
    return found > 100 ? 100 : found;
}

static int race(int rounds, const char *lavfi, char *path)
{
    int good = 0;
    for (int i = 0; i < rounds; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(list_in_a_race(lavfi, path));
        if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) >= 100)
            good++;
    }
    printf("%d of %d\n", good, rounds);
    return good != rounds;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && !strcmp(argv[1], "order"))
        return in_order(argv[2], argv + 3);
    if (argc == 4 && !strcmp(argv[1], "late"))
        return late(argv[2], argv[3]);
    if (argc == 5 && !strcmp(argv[1], "race"))
        return race(atoi(argv[2]), argv[3], argv[4]);
    return 2;
}
