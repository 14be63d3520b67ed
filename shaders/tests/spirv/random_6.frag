#version 450
// A generated program; random_6.expected holds a, b, c, d and arr of elements 0 to 15, x for discarded ones.
layout(location=0) flat in int p;
layout(location=1) flat in int q;
layout(location=0) out ivec4 o[3];
int arr[4] = int[](1,2,3,4);
int a,b,c,d,g;
void finish() { o[0] = ivec4(a,b,c,d); o[1] = ivec4(arr[0],arr[1],arr[2],arr[3]); }
int f0(int a, inout int b) {
  int c = 1, d = 2;
  c = d;
  return a + b;
}
void main() {
  a = p; b = q; c = p ^ 3; d = 1; g = p * q;
  c = ((((-6) - g) & (a * d)) << (((b ^ c) | (b & b)) & 3));
  if ((d != (g | g))) {
    { int i1 = 0; do { i1++;
      c = ((b & ((-5) - d)) ^ ((((10) <= (4)) ? g : (10)) - (a << (a & 3))));
    } while (i1 < (3)); }
  } else {
    d = (c - ((c - (-5)) << (d & 3)));
  }
  a = (d & (0));
  finish();
}
