// A Vulkan driver around Mesa's for AMD that runs without a GPU: pipelines are compiled by the real driver, command buffers and
// queues do nothing. ($REAL_DRIVER names it; its mode without hardware crashes where commands are recorded.)
// Handles and structs are as the Vulkan 1.0 ABI lays them out, so no headers are needed.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Function)(void);
typedef Function (*Lookup)(void *, const char *);

/* VkCommandBufferAllocateInfo */
struct Allocate {
  int32_t type;
  const void *next;
  uint64_t pool;
  int32_t level;
  uint32_t count;
};

/* The head of any struct, VkComputePipelineCreateInfo, and VkPipelineShaderStageRequiredSubgroupSizeCreateInfo */
struct Extension {
  int32_t type;
  struct Extension *next;
  uint32_t value;
};
struct Compute {
  int32_t type;
  const void *next;
  uint64_t flags;
  int32_t stage_type;
  struct Extension *stage_next;
  uint64_t rest[7];
};

#define REQUIRED_SUBGROUP_SIZE 1000225001

/* What the loader expects at the start of a handle that it dispatches on. */
#define LOADER_MAGIC 0x01CDC0DEu

static Lookup of_device;

static void *driver(void) {
  static void *library;
  if (!library) library = dlopen(getenv("REAL_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
  return library;
}

static int32_t succeed(void) { return 0; }
static void ignore(void) {}

static int32_t create_pool(void *device, const void *info, const void *allocator, uint64_t *pool) {
  *pool = 1;
  return 0;
}

static int32_t allocate(void *device, const struct Allocate *info, void **buffers) {
  for (uint32_t i = 0; i < info->count; i++) {
    uintptr_t *handle = calloc(8, sizeof *handle);
    *handle = LOADER_MAGIC;
    buffers[i] = handle;
  }
  return 0;
}

typedef int32_t (*Create)(void *, uint64_t, uint32_t, const struct Compute *, const void *, uint64_t *);
static Create create_real;

/* With waves of $WAVE lanes, whatever the caller asks for. */
static int32_t create_compute(void *device, uint64_t cache, uint32_t count, const struct Compute *infos, const void *allocator,
                              uint64_t *out) {
  const char *wave = getenv("WAVE");
  for (uint32_t i = 0; wave && i < count; i++)
    for (struct Extension *e = infos[i].stage_next; e; e = e->next)
      if (e->type == REQUIRED_SUBGROUP_SIZE) e->value = (uint32_t)atoi(wave);
  return create_real(device, cache, count, infos, allocator, out);
}

static const char *const DONE[] = {
    "vkBeginCommandBuffer", "vkEndCommandBuffer", "vkResetCommandBuffer", "vkResetCommandPool", "vkQueueSubmit",
    "vkQueueSubmit2",       "vkQueueSubmit2KHR",  "vkQueueWaitIdle",      "vkDeviceWaitIdle",   "vkWaitForFences",
    "vkGetFenceStatus",     "vkResetFences",
};
static const char *const IGNORED[] = {"vkDestroyCommandPool", "vkTrimCommandPool", "vkFreeCommandBuffers"};

static Function replaced(const char *name) {
  if (!strcmp(name, "vkCreateCommandPool")) return (Function)create_pool;
  if (!strcmp(name, "vkAllocateCommandBuffers")) return (Function)allocate;
  for (size_t i = 0; i < sizeof DONE / sizeof *DONE; i++)
    if (!strcmp(name, DONE[i])) return (Function)succeed;
  for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
    if (!strcmp(name, IGNORED[i])) return (Function)ignore;
  return strncmp(name, "vkCmd", 5) ? NULL : (Function)ignore;
}

static Function device_function(void *device, const char *name) {
  if (!strcmp(name, "vkCreateComputePipelines")) {
    create_real = (Create)of_device(device, name);
    return (Function)create_compute;
  }
  Function real = of_device(device, name), own = replaced(name);
  return real && own ? own : real;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT Function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
  Lookup real = (Lookup)dlsym(driver(), "vk_icdGetInstanceProcAddr");
  if (strcmp(name, "vkGetDeviceProcAddr")) {
    Function own = replaced(name);
    return own ? own : real(instance, name);
  }
  of_device = (Lookup)real(instance, name);
  return (Function)device_function;
}

EXPORT Function vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
  return ((Lookup)dlsym(driver(), "vk_icdGetPhysicalDeviceProcAddr"))(instance, name);
}

EXPORT int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
  return ((int32_t(*)(uint32_t *))dlsym(driver(), "vk_icdNegotiateLoaderICDInterfaceVersion"))(version);
}
