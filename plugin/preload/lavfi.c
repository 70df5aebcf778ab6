/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lavfi.h"

#include "base/lavfi_registry.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Every libavfilter exports it, and we do not wrap it. */
#define OWN_SYMBOL "avfilter_version"

typedef struct link_map Object;

/* An object that called us, and the libavfilter to which it is bound. */
typedef struct Caller {
    const Object *object;
    char *path; /* another object may have the same address after an unloading */
    Lavfi *lavfi;
    struct Caller *next;
} Caller;

/* Lists that only grow, at their heads. */
static _Atomic(Caller *) callers;
static _Atomic(Lavfi *) lavfis;

static const Object *object_at(void *address)
{
    struct dl_find_object found;
    return _dl_find_object(address, &found) == 0 ? found.dlfo_link_map : NULL;
}

/* Returns a handle without loading anything; the main program has no name. */
static void *open_again(const char *path)
{
    return dlopen(*path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static bool is_lavfi(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, "libavfilter", strlen("libavfilter"));
}

/* ---- earlier results ---------------------------------------------------- */

static Lavfi *recall(const Object *object)
{
    for (Caller *caller = atomic_load(&callers); caller; caller = caller->next)
        if (caller->object == object && !strcmp(caller->path, object->l_name))
            return caller->lavfi;
    return NULL;
}

/* If there is no memory, the next call searches again. */
static void remember(const Object *object, Lavfi *lavfi)
{
    Caller *caller = malloc(sizeof(*caller));
    if (!caller)
        return;
    *caller = (Caller){.object = object,
                       .path = strdup(object->l_name),
                       .lavfi = lavfi,
                       .next = atomic_load(&callers)};
    if (!caller->path) {
        free(caller);
        return;
    }
    while (!atomic_compare_exchange_weak(&callers, &caller->next, caller)) {
    }
}

static Lavfi *find_known(const void *object)
{
    for (Lavfi *lavfi = atomic_load(&lavfis); lavfi; lavfi = lavfi->next)
        if (lavfi->object == object)
            return lavfi;
    return NULL;
}

static Lavfi *make_lavfi(const Object *object, void *version_function)
{
    unsigned (*version)(void);
    void *handle = open_again(object->l_name);
    Lavfi *lavfi = handle ? calloc(1, sizeof(*lavfi)) : NULL;
    if (!lavfi)
        return NULL;
    *(void **)&version = version_function;
    lavfi->object = object;
    lavfi->real = dnn_torch_registry_of(handle);
    lavfi->version = version();
    return lavfi;
}

/* Returns the libavfilter that has this avfilter_version(). */
static Lavfi *enlist(void *version_function)
{
    const Object *object = version_function ? object_at(version_function) : NULL;
    Lavfi *known = object ? find_known(object) : NULL;
    if (known || !object)
        return known;
    Lavfi *made = make_lavfi(object, version_function);
    if (!made)
        return NULL;
    made->next = atomic_load(&lavfis);
    while (!atomic_compare_exchange_weak(&lavfis, &made->next, made))
        if ((known = find_known(object))) { /* another thread was faster */
            free(made);
            return known;
        }
    return made;
}

/* ---- the dynamic linker's choice ------------------------------------------ */

static const ElfW(Dyn) * dynamic_entry(const Object *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry;
    return NULL;
}

/* Returns the symbol version ("LIBAVFILTER_8") that the object was linked to, or NULL. */
static const char *wanted_version(const Object *object)
{
    const ElfW(Dyn) *needs = dynamic_entry(object, DT_VERNEED);
    const ElfW(Dyn) *strings = dynamic_entry(object, DT_STRTAB);
    if (!needs || !strings)
        return NULL;
    /* On most machines the linker has already relocated the strings' address. */
    ElfW(Addr) names_at = strings->d_un.d_ptr;
    names_at += names_at < object->l_addr ? object->l_addr : 0;
    const char *names = (const char *)names_at;
    const char *at = (const char *)(object->l_addr + needs->d_un.d_ptr);
    for (;;) {
        const ElfW(Verneed) *need = (const void *)at;
        const ElfW(Vernaux) *version = (const void *)(at + need->vn_aux);
        if (is_lavfi(names + need->vn_file))
            return names + version->vna_name;
        if (!need->vn_next)
            return NULL;
        at += need->vn_next;
    }
}

static void *symbol_in(void *handle, const char *version)
{
    return version ? dlvsym(handle, OWN_SYMBOL, version) : dlsym(handle, OWN_SYMBOL);
}

/* Searches the global scope before the object's own dependencies, like the linker. */
static void *symbol_for(const Object *object)
{
    const char *version = wanted_version(object);
    void *symbol = symbol_in(RTLD_NEXT, version);
    if (symbol)
        return symbol;
    void *handle = open_again(object->l_name);
    if (handle) {
        symbol = symbol_in(handle, version);
        dlclose(handle);
    }
    return symbol;
}

/* ---- any loaded libavfilter, for callers that are bound to none ------------ */

typedef struct Paths {
    size_t count;
    char paths[8][PATH_MAX];
} Paths;

/* Must not call dlopen(): dl_iterate_phdr() holds a lock that dlopen() takes after another one. */
static int collect(struct dl_phdr_info *info, size_t size, void *opaque)
{
    Paths *found = opaque;
    (void)size;
    if (is_lavfi(info->dlpi_name) && strlen(info->dlpi_name) < PATH_MAX)
        strcpy(found->paths[found->count++], info->dlpi_name);
    return found->count == sizeof(found->paths) / sizeof(*found->paths);
}

static Lavfi *find_any(void)
{
    Paths found = {0};
    Lavfi *lavfi = NULL;
    dl_iterate_phdr(collect, &found);
    for (size_t i = 0; i < found.count && !lavfi; i++) {
        void *handle = open_again(found.paths[i]);
        if (!handle)
            continue; /* unloaded meanwhile */
        lavfi = enlist(symbol_in(handle, NULL));
        dlclose(handle);
    }
    return lavfi;
}

Lavfi *dnn_torch_lavfi_of(void *address)
{
    const Object *object = object_at(address);
    Lavfi *lavfi = object ? recall(object) : NULL;
    if (lavfi)
        return lavfi;
    lavfi = object ? enlist(symbol_for(object)) : NULL;
    if (!lavfi)
        lavfi = find_any();
    if (lavfi && object)
        remember(object, lavfi);
    return lavfi;
}
