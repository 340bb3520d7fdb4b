#include "tests/events/faulty_vfs.hpp"

#include <cstdlib>

namespace hindsight::test {
namespace {

struct State {
  std::atomic<bool> active = false;
  std::atomic<DiskFault> fault = DiskFault::full;
  std::atomic<int> countdown = 0;
  std::atomic<bool> struck = false;
};
State state;
sqlite3_vfs* real = nullptr;

/// Ours stands before the real file in one piece of memory.
struct File {
  sqlite3_file base;
  sqlite3_file* real;
};
sqlite3_file* real_file(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

bool strikes(bool sync) {
  const DiskFault fault = state.fault;
  if (!state.active || sync != (fault == DiskFault::sync_error) || state.countdown-- > 0) return false;
  state.struck = true;
  return true;
}

int close(sqlite3_file* f) { return real_file(f)->pMethods->xClose(real_file(f)); }
int read(sqlite3_file* f, void* data, int n, sqlite3_int64 at) { return real_file(f)->pMethods->xRead(real_file(f), data, n, at); }
int write(sqlite3_file* f, const void* data, int n, sqlite3_int64 at) {
  if (strikes(false)) return state.fault == DiskFault::full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  return real_file(f)->pMethods->xWrite(real_file(f), data, n, at);
}
int truncate(sqlite3_file* f, sqlite3_int64 size) { return real_file(f)->pMethods->xTruncate(real_file(f), size); }
int sync(sqlite3_file* f, int flags) {
  if (strikes(true)) return SQLITE_IOERR_FSYNC;
  return real_file(f)->pMethods->xSync(real_file(f), flags);
}
int file_size(sqlite3_file* f, sqlite3_int64* size) { return real_file(f)->pMethods->xFileSize(real_file(f), size); }
int lock(sqlite3_file* f, int level) { return real_file(f)->pMethods->xLock(real_file(f), level); }
int unlock(sqlite3_file* f, int level) { return real_file(f)->pMethods->xUnlock(real_file(f), level); }
int check_lock(sqlite3_file* f, int* out) { return real_file(f)->pMethods->xCheckReservedLock(real_file(f), out); }
int control(sqlite3_file* f, int op, void* arg) { return real_file(f)->pMethods->xFileControl(real_file(f), op, arg); }
int sector_size(sqlite3_file* f) { return real_file(f)->pMethods->xSectorSize(real_file(f)); }
int device(sqlite3_file* f) { return real_file(f)->pMethods->xDeviceCharacteristics(real_file(f)); }
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return real_file(f)->pMethods->xShmMap(real_file(f), page, size, extend, out);
}
int shm_lock(sqlite3_file* f, int offset, int n, int flags) { return real_file(f)->pMethods->xShmLock(real_file(f), offset, n, flags); }
void shm_barrier(sqlite3_file* f) { real_file(f)->pMethods->xShmBarrier(real_file(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real_file(f)->pMethods->xShmUnmap(real_file(f), remove); }

constexpr sqlite3_io_methods methods{2,          close,   read,        write,  truncate, sync,     file_size,   lock,     unlock,
                                     check_lock, control, sector_size, device, shm_map,  shm_lock, shm_barrier, shm_unmap};

int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
  auto* file = reinterpret_cast<File*>(f);
  file->base.pMethods = nullptr;
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code = real->xOpen(real, name, file->real, flags, out);
  if (code == SQLITE_OK) file->base.pMethods = &methods;
  return code;
}

sqlite3_vfs make() {
  sqlite3_vfs out = *sqlite3_vfs_find("unix");
  out.szOsFile += static_cast<int>(sizeof(File));
  out.zName = "faulty";
  out.pNext = nullptr;
  out.xOpen = open;
  return out;
}

sqlite3_vfs faulty;

}  // namespace

FaultyDisk::FaultyDisk() {
  real = sqlite3_vfs_find("unix");
  faulty = make();
  heal();
  if (sqlite3_vfs_register(&faulty, 1) != SQLITE_OK) std::abort();
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_register(real, 1);
  sqlite3_vfs_unregister(&faulty);
}

void FaultyDisk::fail(DiskFault fault, int after) {
  state.fault = fault;
  state.countdown = after;
  state.struck = false;
  state.active = true;
}

void FaultyDisk::heal() { state.active = false; }

bool FaultyDisk::struck() const { return state.struck; }

}  // namespace hindsight::test
