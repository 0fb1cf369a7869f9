/* TEMPORARY on the branch `ptx`: executors that are being written. */
#include "sim/base/assert.h"
#include "sim/core/exec.h"

void exec_MOV64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-mov64", false);
}
void exec_IADD64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-iadd64", false);
}
void exec_ISUB64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-isub64", false);
}
void exec_IMUL64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-imul64", false);
}
void exec_IMAD64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-imad64", false);
}
void exec_IMULW(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-imulw", false);
}
void exec_IMADW(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-imadw", false);
}
void exec_SHL64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-shl64", false);
}
void exec_SHR64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-shr64", false);
}
void exec_LOP64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-lop64", false);
}
void exec_IMNMX64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-imnmx64", false);
}
void exec_SEL64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-sel64", false);
}
void exec_ISETP64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-isetp64", false);
}
void exec_IABS64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-iabs64", false);
}
void exec_POPC64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-popc64", false);
}
void exec_FLO64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-flo64", false);
}
void exec_BREV64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-brev64", false);
}
void exec_BFE64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-bfe64", false);
}
void exec_BFI64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-bfi64", false);
}
void exec_IABS(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-iabs", false);
}
void exec_BREV(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-brev", false);
}
void exec_PRMT(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-prmt", false);
}
void exec_LOP3(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-lop3", false);
}
void exec_SHF(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-shf", false);
}
void exec_SAD(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-sad", false);
}
void exec_DP4A(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dp4a", false);
}
void exec_IDIV(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-idiv", false);
}
void exec_IREM(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-irem", false);
}
void exec_IDIV64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-idiv64", false);
}
void exec_IREM64(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-irem64", false);
}
void exec_CVT(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-cvt", false);
}
void exec_ISSPACEP(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-isspacep", false);
}
void exec_MUFU(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-mufu", false);
}
void exec_FDIV(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-fdiv", false);
}
void exec_TESTP(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-testp", false);
}
void exec_DADD(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dadd", false);
}
void exec_DMUL(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dmul", false);
}
void exec_DFMA(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dfma", false);
}
void exec_DMNMX(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dmnmx", false);
}
void exec_DSETP(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dsetp", false);
}
void exec_DDIV(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-ddiv", false);
}
void exec_DMUFU(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-dmufu", false);
}
void exec_SHFL(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-shfl", false);
}
void exec_MATCH(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-match", false);
}
void exec_REDUX(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-redux", false);
}
void exec_ELECT(Issue *issue) {
  (void)issue;
  LS_REQUIRE("pending-elect", false);
}
}
