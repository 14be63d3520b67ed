#version 450
// A generated program; random_4.expected holds a, b, c, d and arr of elements 0 to 15, x for discarded ones.
layout(location=0) flat in int p;
layout(location=1) flat in int q;
layout(location=0) out ivec4 o[3];
int arr[4] = int[](1,2,3,4);
int a,b,c,d,g;
void finish() { o[0] = ivec4(a,b,c,d); o[1] = ivec4(arr[0],arr[1],arr[2],arr[3]); }
void main() {
  a = p; b = q; c = p ^ 3; d = 1; g = p * q;
  if (((10) == (b - d))) {
    a = g; finish(); return;
  }
  b = (((a <= b) ? (a & b) : (((12) == d) ? d : d)) << (b & 3));
  arr[((((a == d) ? b : (9)) & (a | c))) & 3] = ((b + d) + (-8)); b += arr[(((g < (-2)) ? (c & g) : c)) & 3];
  if (((c & d) <= ((-1) + g))) {
    a = ((b > a) ? (c << ((0) & 3)) : ((b == c) ? d : (7))); finish(); return;
  }
  finish();
}
