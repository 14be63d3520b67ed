/* What programs ask of the preloaded nodes in the form that they were built for: `cargo xtask test --package` builds it with
 * offsets and times of 32 and of 64 bits, and runs it. Ends with the number of the line that found something wrong. */

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MUST(condition) do { if (!(condition)) return __LINE__; } while (0)
#define NODE "/dev/dri/renderD128"

struct version {
    int major, minor, patch;
    size_t name_len;
    char *name;
    size_t date_len;
    char *date;
    size_t desc_len;
    char *desc;
};
struct create_bo { uint32_t size, flags, handle, pad; };
struct mmap_bo { uint32_t handle, flags; uint64_t offset; };

static int is_node(const struct stat *status, unsigned number) {
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == 226 && minor(status->st_rdev) == number;
}

int main(void) {
    struct stat status;
    MUST(stat(NODE, &status) == 0 && is_node(&status, 128));
    MUST(lstat("/dev/dri/card0", &status) == 0 && is_node(&status, 0));
    MUST(fstatat(AT_FDCWD, NODE, &status, 0) == 0 && is_node(&status, 128));
    MUST(stat("/dev/dri/card7", &status) != 0);
    MUST(stat("/usr", &status) == 0 && S_ISDIR(status.st_mode));

    int found = 0;
    DIR *directory = opendir("/dev/dri");
    MUST(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        found += entry->d_type == DT_CHR && (!strcmp(entry->d_name, "card0") || !strcmp(entry->d_name, "renderD128"));
    closedir(directory);
    MUST(found == 2);

    int node = open(NODE, O_RDWR | O_CLOEXEC);
    MUST(node >= 0 && fstat(node, &status) == 0 && is_node(&status, 128));
    MUST(lseek(node, 0, SEEK_CUR) == 0);
    char name[4] = "";
    struct version version = { .name_len = 3, .name = name };
    MUST(ioctl(node, _IOWR('d', 0x00, struct version), &version) == 0);
    MUST(!strcmp(name, "vc4") && version.date_len == 8 && version.desc_len == 21);

    struct create_bo bo = { .size = 8192 };
    MUST(ioctl(node, _IOWR('d', 0x43, struct create_bo), &bo) == 0);
    struct mmap_bo place = { .handle = bo.handle };
    MUST(ioctl(node, _IOWR('d', 0x44, struct mmap_bo), &place) == 0);
    uint32_t *words = mmap(NULL, bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)place.offset);
    /* The kernel's offsets begin behind 32 bits. */
    if (sizeof(off_t) == 4) {
        MUST(words == MAP_FAILED);
    } else {
        MUST(words != MAP_FAILED);
        words[5] = 0x1234;
        uint32_t *again = mmap(NULL, bo.size, PROT_READ, MAP_SHARED, node, (off_t)place.offset);
        MUST(again != MAP_FAILED && again[5] == 0x1234);
    }
    return 0;
}
