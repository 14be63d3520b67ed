#version 450
// A generated program; random_1.expected holds a, b, c, d and arr of elements 0 to 15, x for discarded ones.
layout(location=0) flat in int p;
layout(location=1) flat in int q;
layout(location=0) out ivec4 o[3];
int arr[4] = int[](1,2,3,4);
int a,b,c,d,g;
void finish() { o[0] = ivec4(a,b,c,d); o[1] = ivec4(arr[0],arr[1],arr[2],arr[3]); }
void main() {
  a = p; b = q; c = p ^ 3; d = 1; g = p * q;
  switch (((((1) + d) | (d ^ (9))) & (7))) {
  case 2:
    a = (10);
  case 0:
    d = (-8);
    if ((((-5) + c) == ((-1) << (d & 3)))) {
      if ((a <= ((g > (-4)) ? (6) : b))) {
        a = (((((-1) < (5)) ? (-5) : b) ^ (b << (b & 3))) | (((c <= d) ? (3) : (9)) - (1)));
        arr[((((4) - g) * (d << (c & 3)))) & 3] = ((g << ((7) & 3)) | (b & g)); a += arr[(c) & 3];
      } else {
        b = a;
        switch ((((c | g) | (g << (g & 3))) & (7))) {
        case 5:
          b = (((b - (12)) * ((12) & g)) + ((b <= a) ? ((1) - d) : (c << (a & 3))));
          break;
        case 0:
          c = (c << (((((3) <= (-2)) || ((4) == (1))) ? (d * a) : b) & 3));
          break;
          break;
        default:
          break;
          break;
        case 4:
          b = (((d | c) ^ (a + d)) - (((-5) <= b) ? (a + g) : (a + g)));
        case 3:
          break;
          break;
        }
      }
    } else {
      switch ((d & (7))) {
      default:
        arr[(a) & 3] = (-8); d += arr[(((g | b) * (a + c))) & 3];
        if ((((b > g) ? g : d) > (d | (9)))) {
          break;
          d = (a | ((g == g) ? (c & (5)) : (-1)));
          d = (((d - d) - ((8) & (3))) << (c & 3));
          b = ((a & a) * a);
        }
        b = (((a ^ (10)) & (a ^ d)) & ((c + b) & (((-1) <= a) ? a : (-5))));
      case 3:
        if ((((g != c) && ((-4) < c)) || ((-7) <= (-7)))) {
          c = ((((-4) << ((-6) & 3)) * ((-4) - g)) + ((a == (12)) ? (a + c) : (d - b)));
        } else {
          d = (((d | g) * (c ^ (3))) + b);
          c = ((-3) - (-6));
        }
        d = ((((-7) <= g) ? ((10) << (g & 3)) : (g + g)) + c);
        break;
      }
      if (((g << ((-5) & 3)) < ((12) ^ c))) {
        break;
      }
      a = ((a & (7)) & a);
      switch ((((d * g) << (((c != c) ? (1) : d) & 3)) & (7))) {
      default:
        if ((((c < g) ? d : a) == (b - (9)))) {
          break;
        }
        { int i4 = 0; do { i4++;
          b = (((d != (0)) ? (-6) : ((11) & (5))) | ((-2) | ((d <= b) ? g : (7))));
          b = (((b ^ i4) < a) ? (((1) & c) * (g * b)) : (a | (c | (-6))));
        } while (i4 < (4)); }
        if (((d <= g) || ((-8) < (-3)))) {
          d = ((((1) < c) && (b == (9))) ? (((d != (-7)) ? (-4) : b) + (g & c)) : ((b ^ a) - (b | d)));
        } else {
          d = a;
          b = (((((10) <= b) ? b : b) & (c - g)) * ((b == b) ? (c + (3)) : ((8) - c)));
        }
        for (int i5 = 0; i5 < (d & (3)); i5++) {
          a = (6);
          c = (((d + g) - g) ^ c);
        }
      case 4:
      case 7:
        if ((((12) == d) && (c == g))) {
          a = ((g | a) ^ (d + a)); finish(); return;
        }
        for (int i1 = 0; i1 < (2); i1++) {
          break;
        }
        break;
      case 2:
        { int i2 = 0; do { i2++;
          b = (((i2 - b) | (i2 ^ (3))) ^ (a | ((2) + (0))));
          b = c;
          continue;
          d = (((i2 > (1)) ? b : (a | i2)) << ((((-4) << ((-2) & 3)) - (g * (7))) & 3));
        } while (i2 < (2)); }
        break;
      case 5:
        b = ((-4) - (((7) > (1)) ? d : (a - c)));
        for (int i3 = 0; i3 < (d & (3)); i3++) {
          d = (4);
          b = (5);
          c = ((((d == i3) ? g : a) << (((-1) * d) & 3)) | ((g * a) * (d * (12))));
          a = ((1) | (10));
        }
        if (((b | (-4)) == (b & g))) {
          b = (((c + c) * (a & b)) & (((12) != a) ? ((10) | (-5)) : b));
        } else {
          b = (((a + (5)) ^ (c - g)) - b);
          b = (b ^ b);
        }
        if ((((c <= b) && ((8) > (5))) && (a < b))) {
          break;
        }
        break;
      }
    }
    d = ((a - (b + d)) * ((b & d) << ((10) & 3)));
    break;
  case 1:
    b = (((d < (-5)) ? (b - (-5)) : (d ^ (-6))) * ((4) + ((12) << ((6) & 3))));
    c = d;
    b = (-3);
    break;
  default:
    d = (a - ((((3) == g) && ((2) != g)) ? (d ^ b) : (a & a)));
    d = (b * (((-7) << (d & 3)) - (a + (8))));
    b = (a + ((6) << (((c == a) ? c : (5)) & 3)));
  case 3:
    c = (((c < (5)) && ((a > a) || (d == b))) ? c : (g | (b * c)));
    c = (((d << (a & 3)) < (g | (4))) ? (c * (d ^ (-4))) : b);
    d = (((g << (d & 3)) * ((4) * (4))) + ((a - a) - (b << (c & 3))));
    break;
  }
  finish();
}
