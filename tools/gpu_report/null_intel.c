// Stands in for the kernel's driver of an Intel GPU, so that Mesa's Vulkan driver for Intel opens where there is none and compiles
// pipelines. Preloaded: libdrm's list of devices has one GPU (its PCI id: $INTEL_ID), and what is asked of it is answered as i915
// does, as far as opening a device needs. Nothing runs. Structs are as libdrm and the kernel lay them out, so no headers are needed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

/* drmDevice, drmVersion */
struct bus {
  uint16_t domain;
  uint8_t bus, device, function;
};
struct pci {
  uint16_t vendor, device, subvendor, subdevice;
  uint8_t revision;
};
struct gpu {
  char **nodes;
  int available_nodes, bus_type;
  struct bus *bus;
  struct pci *pci;
};
struct version {
  int major, minor, patch, name_length;
  char *name;
  int date_length;
  char *date;
  int text_length;
  char *text;
};

#define RENDER_NODE 2
#define INTEL 0x8086

/* Any file that opens will do: its ioctl and mmap are answered here. */
static char *nodes[] = {"", "", "/dev/null"};
static struct bus bus = {0, 0, 2, 0};
static struct pci pci = {INTEL, 0, 0, 0, 1};
static struct gpu gpu = {nodes, 1 << RENDER_NODE, 0, &bus, &pci};

EXPORT int drmGetDevice2(int file, uint32_t flags, struct gpu **out) {
  pci.device = (uint16_t)strtol(getenv("INTEL_ID"), NULL, 16);
  *out = &gpu;
  return 0;
}
EXPORT int drmGetDevice(int file, struct gpu **out) { return drmGetDevice2(file, 0, out); }
EXPORT int drmGetDevices2(uint32_t flags, struct gpu **out, int most) {
  if (out && most > 0) drmGetDevice2(-1, flags, out);
  return 1;
}
EXPORT int drmGetDevices(struct gpu **out, int most) { return drmGetDevices2(0, out, most); }
EXPORT void drmFreeDevice(struct gpu **device) {}
EXPORT void drmFreeDevices(struct gpu **devices, int count) {}
EXPORT struct version *drmGetVersion(int file) {
  static struct version version = {1, 6, 0, 4, "i915", 1, "0", 4, "i915"};
  return &version;
}
EXPORT void drmFreeVersion(struct version *version) {}

/* What Tiger Lake has: one slice of six dual subslices of 16 units (drm_i915_query_topology_info). */
struct topology {
  uint16_t flags, max_slices, max_subslices, max_units, subslice_offset, subslice_stride, unit_offset, unit_stride;
  uint8_t slices, subslices, units[12];
};

static int32_t topology(void *to, int32_t room) {
  struct topology answer = {0, 1, 6, 16, 1, 1, 2, 2, 1, 0x3f, {0}};
  memset(answer.units, 0xff, sizeof answer.units);
  if (room >= (int32_t)sizeof answer) memcpy(to, &answer, sizeof answer);
  return sizeof answer;
}

/* Of I915_GETPARAM; what is not named here is there. */
static int param(int32_t name) {
  switch (name) {
    case 4: return pci.device;
    case 33: return 96; /* execution units */
    case 34: return 6;  /* subslices */
    case 38: return 0;  /* pooled units */
    case 40: return 4;  /* buffers are mapped by offset */
    case 47: return 0x3f;
    case 51: return 12000000; /* the timestamps' frequency */
    default: return 1;
  }
}

#define NOT_KNOWN (-22)
#define BYTES 0x1000

static int answer(unsigned what, void *data) {
  static uint32_t handle;
  uint32_t *words = data;
  uint64_t *longs = data;
  switch (what) {
    case 0x0c: longs[1] = 1; break;                                   /* a capability */
    case 0x46: *(int *)(uintptr_t)longs[1] = param((int32_t)words[0]); break;
    case 0x5b: case 0x7c: words[2] = ++handle; break;                 /* a buffer */
    case 0x63: longs[0] = longs[1] = 1ull << 32; break;               /* the aperture */
    case 0x64: longs[1] = BYTES; break;                               /* where a buffer is mapped */
    case 0x6d: case 0xbf: words[0] = ++handle; break;                 /* a context, a fence */
    case 0x73: words[5] = ++handle; break;                            /* a buffer of the process's memory */
    case 0x74: longs[2] = longs[1] == 3 ? 1ull << 48 : 0; break;      /* a context's addresses */
    case 0x7a: words[3] = ++handle; break;                            /* an address space */
    case 0x79:                                                        /* drm_i915_query_item: id, length, data */
      for (uint64_t i = 0, *item = (uint64_t *)(uintptr_t)longs[1]; i < words[0]; i++, item += 3) {
        int32_t *length = (int32_t *)(item + 1);
        *length = item[0] == 1 ? topology((void *)(uintptr_t)item[2], *length) : NOT_KNOWN;
      }
      break;
    default: break;
  }
  return 0;
}

typedef int (*Ioctl)(int, unsigned long, ...);
typedef void *(*Map)(void *, size_t, int, int, int, off_t);

EXPORT int ioctl(int file, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *data = va_arg(rest, void *);
  va_end(rest);
  if ((request >> 8 & 0xff) == 'd') return answer(request & 0xff, data);
  return ((Ioctl)dlsym(RTLD_NEXT, "ioctl"))(file, request, data);
}

static int is_node(int file) {
  struct stat of;
  return file >= 0 && fstat(file, &of) == 0 && S_ISCHR(of.st_mode) && of.st_rdev == makedev(1, 3);
}

EXPORT void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  Map real = (Map)dlsym(RTLD_NEXT, "mmap");
  if (!is_node(file)) return real(at, bytes, access, flags, file, offset);
  return real(at, bytes, access, (flags & ~MAP_SHARED) | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
EXPORT void *mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  return mmap(at, bytes, access, flags, file, offset);
}
