"""Formulas of + - * /, whole and half powers and real constants, with the ranges of their variables.

The Feynman equations that need no transcendental function and their harder companions (Udrescu and Tegmark,
"AI Feynman: a physics-inspired method for symbolic regression", Science Advances 6, 2020), and formulas of
engineering, chemistry, health, finance, geometry, statistics and school physics.

    x, y, names, fresh_x, fresh_y, far_x, far_y = make("chemistry/michaelis_menten", noise=0.01, redundant=5)
    check("chemistry/michaelis_menten", "2*V*S/(2*K + 2*S)", names)["exact"]
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import sympy as sp

import fit_judge
import fit_tables
from fit_tables import Formula, Tables, formula

# Far ranges are given where eight times wider has no meaning: shares stay below one.
_TEXTS = {
    "feynman/I.8.14": ("sqrt((x2-x1)**2+(y2-y1)**2)", "x1 1 5, x2 1 5, y1 1 5, y2 1 5"),
    "feynman/I.9.18": (
        "G*m1*m2/((x2-x1)**2+(y2-y1)**2+(z2-z1)**2)",
        "G 1 2, m1 1 2, m2 1 2, x1 3 4, x2 1 2, y1 3 4, y2 1 2, z1 3 4, z2 1 2",
    ),
    "feynman/I.10.7": ("m_0/sqrt(1-v**2/c**2)", "m_0 1 5, v 1 2, c 3 10"),
    "feynman/I.11.19": ("x1*y1+x2*y2+x3*y3", "x1 1 5, x2 1 5, x3 1 5, y1 1 5, y2 1 5, y3 1 5"),
    "feynman/I.12.1": ("mu*Nn", "mu 1 5, Nn 1 5"),
    "feynman/I.12.2": ("q1*q2/(4*pi*epsilon*r**2)", "q1 1 5, q2 1 5, epsilon 1 5, r 1 5"),
    "feynman/I.12.4": ("q1/(4*pi*epsilon*r**2)", "q1 1 5, epsilon 1 5, r 1 5"),
    "feynman/I.12.5": ("q2*Ef", "q2 1 5, Ef 1 5"),
    "feynman/I.13.4": ("m*(v**2+u**2+w**2)/2", "m 1 5, v 1 5, u 1 5, w 1 5"),
    "feynman/I.13.12": ("G*m1*m2*(1/r2-1/r1)", "G 1 5, m1 1 5, m2 1 5, r1 1 5, r2 1 5"),
    "feynman/I.14.3": ("m*g*z", "m 1 5, g 1 5, z 1 5"),
    "feynman/I.14.4": ("k*x**2/2", "k 1 5, x 1 5"),
    "feynman/I.15.3x": ("(x-u*t)/sqrt(1-u**2/c**2)", "x 5 10, u 1 2, c 3 20, t 1 2"),
    "feynman/I.15.3t": ("(t-u*x/c**2)/sqrt(1-u**2/c**2)", "x 1 5, c 3 10, u 1 2, t 1 5"),
    "feynman/I.15.10": ("m_0*v/sqrt(1-v**2/c**2)", "m_0 1 5, v 1 2, c 3 10"),
    "feynman/I.16.6": ("(u+v)/(1+u*v/c**2)", "u 1 5, v 1 5, c 1 5"),
    "feynman/I.18.4": ("(m1*r1+m2*r2)/(m1+m2)", "m1 1 5, m2 1 5, r1 1 5, r2 1 5"),
    "feynman/I.24.6": ("m*(omega**2+omega_0**2)*x**2/4", "m 1 3, omega 1 3, omega_0 1 3, x 1 3"),
    "feynman/I.25.13": ("q/C", "q 1 5, C 1 5"),
    "feynman/I.27.6": ("1/(1/d1+n/d2)", "d1 1 5, d2 1 5, n 1 5"),
    "feynman/I.29.4": ("omega/c", "omega 1 10, c 1 10"),
    "feynman/I.32.5": ("q**2*a**2/(6*pi*epsilon*c**3)", "q 1 5, a 1 5, epsilon 1 5, c 1 5"),
    "feynman/I.32.17": (
        "(epsilon*c*Ef**2/2)*(8*pi*r**2/3)*(omega**4/(omega**2-omega_0**2)**2)",
        "epsilon 1 2, c 1 2, Ef 1 2, r 1 2, omega 1 2, omega_0 3 5",
    ),
    "feynman/I.34.8": ("q*v*B/p", "q 1 5, v 1 5, B 1 5, p 1 5"),
    "feynman/I.34.10": ("omega_0/(1-v/c)", "omega_0 1 5, v 1 2, c 3 10"),
    "feynman/I.34.14": ("(1+v/c)/sqrt(1-v**2/c**2)*omega_0", "omega_0 1 5, v 1 2, c 3 10"),
    "feynman/I.34.27": ("h*omega/(2*pi)", "h 1 5, omega 1 5"),
    "feynman/I.38.12": ("epsilon*h**2/(pi*m*q**2)", "epsilon 1 5, h 1 5, m 1 5, q 1 5"),
    "feynman/I.39.10": ("3*pr*V/2", "pr 1 5, V 1 5"),
    "feynman/I.39.11": ("pr*V/(gamma-1)", "gamma 2 5, pr 1 5, V 1 5"),
    "feynman/I.39.22": ("n*kb*T/V", "n 1 5, kb 1 5, T 1 5, V 1 5"),
    "feynman/I.43.16": ("mu*q*U/d", "mu 1 5, q 1 5, U 1 5, d 1 5"),
    "feynman/I.43.31": ("mob*kb*T", "mob 1 5, kb 1 5, T 1 5"),
    "feynman/I.43.43": ("kb*v/((gamma-1)*A)", "gamma 2 5, kb 1 5, A 1 5, v 1 5"),
    "feynman/I.47.23": ("sqrt(gamma*pr/rho)", "gamma 1 5, pr 1 5, rho 1 5"),
    "feynman/I.48.20": ("m*c**2/sqrt(1-v**2/c**2)", "m 1 5, v 1 2, c 3 10"),
    "feynman/II.2.42": ("kappa*(T2-T1)*A/d", "kappa 1 5, T1 1 5, T2 1 5, A 1 5, d 1 5"),
    "feynman/II.3.24": ("P/(4*pi*r**2)", "P 1 5, r 1 5"),
    "feynman/II.4.23": ("q/(4*pi*epsilon*r)", "q 1 5, epsilon 1 5, r 1 5"),
    "feynman/II.6.15a": (
        "3*p_d*z*sqrt(x**2+y**2)/(4*pi*epsilon*r**5)",
        "p_d 1 3, z 1 3, x 1 3, y 1 3, epsilon 1 3, r 1 3",
    ),
    "feynman/II.8.7": ("3*q**2/(20*pi*epsilon*d)", "q 1 5, epsilon 1 5, d 1 5"),
    "feynman/II.8.31": ("epsilon*Ef**2/2", "epsilon 1 5, Ef 1 5"),
    "feynman/II.10.9": ("sigma/(epsilon*(1+chi))", "sigma 1 5, epsilon 1 5, chi 1 5"),
    "feynman/II.11.3": ("q*Ef/(m*(omega_0**2-omega**2))", "q 1 3, Ef 1 3, m 1 3, omega_0 3 5, omega 1 2"),
    "feynman/II.11.20": ("n*p_d**2*Ef/(3*kb*T)", "n 1 5, p_d 1 5, Ef 1 5, kb 1 5, T 1 5"),
    "feynman/II.11.27": ("n*alpha/(1-n*alpha/3)*epsilon*Ef", "n 0 1, alpha 0 1, epsilon 1 2, Ef 1 2"),
    "feynman/II.11.28": ("1+n*alpha/(1-n*alpha/3)", "n 0 1, alpha 0 1"),
    "feynman/II.13.17": ("I/(2*pi*epsilon*c**2*r)", "I 1 5, epsilon 1 5, c 1 5, r 1 5"),
    "feynman/II.13.23": ("rho_0/sqrt(1-v**2/c**2)", "rho_0 1 5, v 1 2, c 3 10"),
    "feynman/II.13.34": ("rho_0*v/sqrt(1-v**2/c**2)", "rho_0 1 5, v 1 2, c 3 10"),
    "feynman/II.21.32": ("q/(4*pi*epsilon*r*(1-v/c))", "q 1 5, epsilon 1 5, r 1 5, v 1 2, c 3 10"),
    "feynman/II.24.17": ("sqrt(omega**2/c**2-pi**2/d**2)", "omega 4 6, c 1 2, d 2 4"),
    "feynman/II.27.16": ("epsilon*c*Ef**2", "epsilon 1 5, c 1 5, Ef 1 5"),
    "feynman/II.27.18": ("epsilon*Ef**2", "epsilon 1 5, Ef 1 5"),
    "feynman/II.34.2": ("q*v*r/2", "q 1 5, v 1 5, r 1 5"),
    "feynman/II.34.2a": ("q*v/(2*pi*r)", "q 1 5, v 1 5, r 1 5"),
    "feynman/II.34.11": ("g*q*B/(2*m)", "g 1 5, q 1 5, B 1 5, m 1 5"),
    "feynman/II.34.29a": ("q*h/(4*pi*m)", "q 1 5, h 1 5, m 1 5"),
    "feynman/II.34.29b": ("2*pi*g*mom*B*Jz/h", "g 1 5, mom 1 5, B 1 5, Jz 1 5, h 1 5"),
    "feynman/II.36.38": (
        "mom*H/(kb*T)+mom*alpha*M/(epsilon*c**2*kb*T)",
        "mom 1 3, H 1 3, kb 1 3, T 1 3, alpha 1 3, epsilon 1 3, c 1 3, M 1 3",
    ),
    "feynman/II.37.1": ("mom*(1+chi)*B", "mom 1 5, chi 1 5, B 1 5"),
    "feynman/II.38.3": ("Y*A*x/d", "Y 1 5, A 1 5, x 1 5, d 1 5"),
    "feynman/II.38.14": ("Y/(2*(1+sigma))", "Y 1 5, sigma 1 5"),
    "feynman/III.7.38": ("4*pi*mom*B/h", "mom 1 5, B 1 5, h 1 5"),
    "feynman/III.10.19": ("mom*sqrt(Bx**2+By**2+Bz**2)", "mom 1 5, Bx 1 5, By 1 5, Bz 1 5"),
    "feynman/III.12.43": ("n*h/(2*pi)", "n 1 5, h 1 5"),
    "feynman/III.13.18": ("4*pi*E_n*d**2*k/h", "E_n 1 5, d 1 5, k 1 5, h 1 5"),
    "feynman/III.15.14": ("h**2/(8*pi**2*E_n*d**2)", "h 1 5, E_n 1 5, d 1 5"),
    "feynman/III.15.27": ("2*pi*alpha/(n*d)", "alpha 1 5, n 1 5, d 1 5"),
    "feynman/III.19.51": (
        "-m*q**4/(2*(4*pi*epsilon)**2*(h/(2*pi))**2*n**2)",
        "m 1 5, q 1 5, epsilon 1 5, h 1 5, n 1 5",
    ),
    "feynman/III.21.20": ("-rho_0*q*A_vec/m", "rho_0 1 5, q 1 5, A_vec 1 5, m 1 5"),
    # The companions.
    "bonus/radial_speed": ("sqrt(2/m*(E_n-U-L**2/(2*m*r**2)))", "m 1 3, E_n 8 12, U 1 3, L 1 3, r 1 3"),
    "bonus/orbit_period": ("2*pi*d**(3/2)/sqrt(G*(m1+m2))", "d 1 3, G 1 3, m1 1 3, m2 1 3"),
    "bonus/eccentricity": (
        "sqrt(1+2*epsilon**2*E_n*L**2/(m*(Z_1*Z_2*q**2)**2))",
        "epsilon 1 3, L 1 3, m 1 3, Z_1 1 3, Z_2 1 3, q 1 3, E_n 1 3",
    ),
    "bonus/friedman": ("sqrt(8*pi*G*rho/3-alpha*c**2/d**2)", "G 1 3, rho 1 3, alpha 1 2, c 1 2, d 1 3"),
    "bonus/gravitational_wave": (
        "-32/5*G**4/c**5*(m1*m2)**2*(m1+m2)/r**5",
        "G 1 2, c 1 2, m1 1 5, m2 1 5, r 1 2",
    ),
    "bonus/image_charge": (
        "q/(4*pi*epsilon*y**2)*(4*pi*epsilon*U*d-q*d*y**3/(y**2-d**2)**2)",
        "q 1 5, y 1 3, U 1 5, d 4 6, epsilon 1 5",
    ),
    "bonus/hamiltonian": (
        "sqrt((p-q*A_vec)**2*c**2+m**2*c**4)+q*U",
        "m 1 5, c 1 5, p 1 5, q 1 5, A_vec 1 5, U 1 5",
    ),
    "bonus/oscillator": (
        "(p**2+m**2*omega**2*x**2*(1+alpha*x/y))/(2*m)",
        "m 1 5, omega 1 5, p 1 5, y 1 5, x 1 5, alpha 1 5",
    ),
    "bonus/density": ("3/(8*pi*G)*(c**2*k_f/r**2+H_G**2)", "G 1 5, k_f 1 5, r 1 5, H_G 1 5, c 1 5"),
    "bonus/pressure": (
        "-1/(8*pi*G)*(c**4*k_f/r**2+c**2*H_G**2*(1-2*alpha))",
        "G 1 5, k_f 1 5, r 1 5, H_G 1 5, alpha 1 5, c 1 5",
    ),
    # School physics.
    "physics/escape_velocity": ("sqrt(2*G*M/r)", "G 1 5, M 1 10, r 1 5"),
    "physics/elastic_collision": (
        "((m1-m2)*v1+2*m2*v2)/(m1+m2)",
        "m1 1 10, m2 1 10, v1 -5 5, v2 -5 5",
    ),
    "physics/atwood": ("9.81*(m1-m2)/(m1+m2)", "m1 1 10, m2 1 10"),
    "physics/doppler": ("f*(340+v)/(340-u)", "f 100 1000, v 5 60, u 5 60"),
    "physics/kinetic_relativistic": ("m*c**2*(1/sqrt(1-v**2/c**2)-1)", "m 1 5, v 1 2, c 3 6"),
    "physics/free_fall": ("h+v*t-9.81*t**2/2", "h 10 100, v 1 30, t 0.5 5"),
    "physics/time_of_flight": ("(v+sqrt(v**2+19.62*h))/9.81", "v 2 30, h 1 50"),
    "physics/reduced_mass_frequency": ("sqrt(k*(m1+m2)/(m1*m2))/(2*pi)", "k 10 100, m1 1 10, m2 1 10"),
    # Engineering.
    "engineering/three_resistors": ("1/(1/R1+1/R2+1/R3)", "R1 10 100, R2 10 100, R3 10 100"),
    "engineering/voltage_divider": ("U*R2/(R1+R2)", "U 1 24, R1 10 100, R2 10 100"),
    "engineering/wheatstone": (
        "U*(R2/(R1+R2)-R4/(R3+R4))",
        "U 5 15, R1 50 150, R2 50 150, R3 50 150, R4 50 150",
    ),
    "engineering/reynolds": ("rho*v*d/mu", "rho 700 1200, v 0.1 5, d 0.01 0.5, mu 0.0005 0.01"),
    "engineering/pressure_loss": (
        "f*L*rho*v**2/(2*d)",
        "f 0.01 0.05, L 1 100, rho 700 1200, v 0.5 5, d 0.05 0.5",
    ),
    "engineering/bernoulli": ("p+rho*v**2/2+9.81*rho*z", "p 1000 50000, rho 700 1200, v 1 10, z 0.5 10"),
    "engineering/pitot": ("sqrt(2*(p_t-p_s)/rho)", "p_t 120 200, p_s 90 110, rho 0.9 1.3"),
    "engineering/venturi": ("A2*sqrt(2*dp/(rho*(1-(A2/A1)**2)))", "A1 4 9, A2 1 3, dp 10 100, rho 0.7 1.3"),
    "engineering/von_mises": ("sqrt(s_x**2-s_x*s_y+s_y**2+3*tau**2)", "s_x 20 200, s_y 20 200, tau 5 80"),
    "engineering/principal_stress": (
        "(s_x+s_y)/2+sqrt(((s_x-s_y)/2)**2+tau**2)",
        "s_x 20 200, s_y 20 200, tau 5 80",
    ),
    "engineering/beam": ("5*w*L**4/(384*E*J)", "w 1 10, L 2 8, E 70 210, J 1 20"),
    "engineering/buckling": ("pi**2*E*J/(K*L)**2", "E 70 210, J 1 20, K 0.5 2, L 1 5"),
    "engineering/springs_in_series": ("k1*k2/(k1+k2)", "k1 10 500, k2 10 500"),
    "engineering/thick_lens": (
        "1/((n-1)*(1/R1+1/R2-(n-1)*d/(n*R1*R2)))",
        "n 1.3 1.9, R1 10 50, R2 10 50, d 1 8",
    ),
    "engineering/heat_transfer": ("1/(1/h1+d/k+1/h2)", "h1 5 25, h2 5 50, d 0.05 0.4, k 0.2 2"),
    "engineering/refrigerator": ("Tc/(Th-Tc)", "Tc 250 280, Th 295 330"),
    "engineering/chezy": ("C*sqrt(R*S)", "C 20 60, R 0.2 3, S 0.001 0.02"),
    "engineering/damped_frequency": ("sqrt(k/m-(b/(2*m))**2)", "k 20 100, m 1 5, b 0.5 5"),
    "engineering/resonance": ("1/(2*pi*sqrt(L*C))", "L 0.1 2, C 0.1 5"),
    "engineering/rl_current": ("U/sqrt(R**2+(omega*L)**2)", "U 5 24, R 1 20, omega 1 50, L 0.1 1"),
    "engineering/rlc_current": (
        "U/sqrt(R**2+(omega*L-1/(omega*C))**2)",
        "U 5 24, R 2 10, omega 1 4, L 1 5, C 0.05 0.3",
    ),
    "engineering/thick_cylinder": ("p*(r_o**2+r_i**2)/(r_o**2-r_i**2)", "p 1 20, r_i 10 30, r_o 40 80"),
    "engineering/tube_inertia": ("pi*(D**4-d**4)/64", "D 3 6, d 1 3"),
    "engineering/goodman": ("1/(s_a/s_e+s_m/s_u)", "s_a 20 150, s_e 200 400, s_m 20 200, s_u 400 800"),
    "engineering/amplifier": ("U*(1+Rf/Rg)", "U 0.1 2, Rf 1 100, Rg 1 20"),
    "engineering/drain_current": ("I_s*(1-U/U_p)**2", "I_s 2 20, U 0.2 2, U_p 3 6"),
    "engineering/belt_length": ("2*a+pi*(D+d)/2+(D-d)**2/(4*a)", "a 30 80, D 10 40, d 5 20"),
    # Chemistry.
    "chemistry/michaelis_menten": ("V*S/(K+S)", "V 1 10, S 0.1 10, K 0.5 5"),
    "chemistry/competitive_inhibition": (
        "V*S/(K*(1+I/K_i)+S)",
        "V 1 10, S 0.5 10, K 0.5 5, I 0.2 5, K_i 0.5 3",
    ),
    "chemistry/substrate_inhibition": ("V*S/(K+S+S**2/K_i)", "V 1 10, S 0.5 10, K 0.5 5, K_i 2 10"),
    "chemistry/hill": ("V*S**2/(K**2+S**2)", "V 1 10, S 0.2 10, K 1 5"),
    "chemistry/langmuir_two": ("K1*p1/(1+K1*p1+K2*p2)", "K1 0.2 3, p1 0.2 4, K2 0.2 3, p2 0.2 4"),
    "chemistry/redlich_kwong": (
        "8.314*T/(V-b)-a/(sqrt(T)*V*(V+b))",
        "T 250 500, V 1 5, a 5000 40000, b 0.05 0.3",
    ),
    "chemistry/bound_complex": ("(A+B+K-sqrt((A+B+K)**2-4*A*B))/2", "A 1 10, B 1 10, K 0.2 5"),
    "chemistry/graham": ("r*sqrt(M1/M2)", "r 1 10, M1 2 100, M2 2 100"),
    "chemistry/speed_of_molecules": ("sqrt(3*8.314*T/M)", "T 200 600, M 0.002 0.1"),
    "chemistry/ionic_strength": ("(c1*z1**2+c2*z2**2)/2", "c1 0.1 2, z1 1 3, c2 0.1 2, z2 1 3"),
    "chemistry/gibbs": ("H-T*S", "H 20 200, T 250 400, S 0.05 0.4"),
    "chemistry/debye_hueckel": ("A*sqrt(I)/(1+B*sqrt(I))", "A 0.4 0.6, I 0.01 1, B 0.5 2"),
    "chemistry/dilution": ("c*V1/(V1+V2)", "c 0.1 5, V1 1 20, V2 5 100"),
    "chemistry/second_order": ("c/(1+k*t*c)", "c 0.5 5, k 0.05 1, t 1 20"),
    # Health.
    "health/body_surface": ("sqrt(height*weight/3600)", "height 140 200, weight 45 120"),
    "health/mean_pressure": ("(systolic+2*diastolic)/3", "systolic 90 180, diastolic 50 110"),
    "health/mifflin": ("10*weight+6.25*height-5*age+5", "weight 45 120, height 140 200, age 18 80"),
    "health/bazett": ("QT/sqrt(RR)", "QT 300 500, RR 0.5 1.3"),
    "health/fick": ("oxygen/(arterial-venous)", "oxygen 150 350, arterial 180 200, venous 110 160"),
    "health/sodium_excretion": (
        "100*u_na*p_cr/(p_na*u_cr)",
        "u_na 10 150, p_cr 0.5 3, p_na 130 150, u_cr 20 200",
    ),
    "health/alveolar_gas": ("F*(p-47)-co2/0.8", "F 0.21 1, p 600 780, co2 25 60"),
    "health/osmolality": ("2*sodium+glucose/18+urea/2.8", "sodium 125 155, glucose 60 400, urea 5 60"),
    "health/likelihood_ratio": ("se/(1-sp)", "se 0.5 0.99 0.01 0.99, sp 0.5 0.95 0.05 0.95"),
    "health/shunt": ("(c_c-c_a)/(c_c-c_v)", "c_c 190 210, c_a 150 185, c_v 100 145"),
    # Finance.
    "finance/sharpe": ("(r-r_f)/s", "r 0.02 0.2, r_f 0.005 0.05, s 0.05 0.4"),
    "finance/capm": ("r_f+beta*(r_m-r_f)", "r_f 0.005 0.05, beta 0.3 2, r_m 0.03 0.15"),
    "finance/gordon": ("D*(1+g)/(r-g)", "D 1 10, g 0.01 0.04, r 0.06 0.15"),
    "finance/two_assets": (
        "sqrt(w**2*s1**2+(1-w)**2*s2**2+2*w*(1-w)*c*s1*s2)",
        "w 0.1 0.9 0.01 0.99, s1 0.05 0.4, s2 0.05 0.4, c -0.5 0.9 -0.9 0.95",
    ),
    "finance/order_quantity": ("sqrt(2*D*S/H)", "D 100 5000, S 10 100, H 1 20"),
    "finance/break_even": ("F/(p-v)", "F 1000 50000, p 30 80, v 5 25"),
    "finance/two_years": ("P*(1+r)**2", "P 100 5000, r 0.01 0.15"),
    "finance/average_price": ("(p1*q1+p2*q2)/(q1+q2)", "p1 5 50, q1 1 100, p2 5 50, q2 1 100"),
    "finance/dupont": (
        "income*assets/(sales*equity)",
        "income 1 20, assets 20 200, sales 20 200, equity 10 100",
    ),
    # Geometry.
    "geometry/box_diagonal": ("sqrt(a**2+b**2+c**2)", "a 1 10, b 1 10, c 1 10"),
    "geometry/cone_surface": ("pi*r*(r+sqrt(r**2+h**2))", "r 1 5, h 1 10"),
    "geometry/heron": ("sqrt((a+b+c)*(b+c-a)*(a+c-b)*(a+b-c))/4", "a 3 5, b 3 5, c 3 5"),
    "geometry/torus": ("2*pi**2*R*r**2", "R 3 8, r 0.5 2"),
    "geometry/frustum": ("pi*h*(R**2+R*r+r**2)/3", "h 1 10, R 2 6, r 0.5 2"),
    "geometry/point_to_line": (
        "(a*x+b*y+c)/sqrt(a**2+b**2)",
        "a 1 5, b 1 5, c 1 10, x 1 10, y 1 10",
    ),
    "geometry/trapezoid": ("(a+b)*h/2", "a 1 10, b 1 10, h 1 5"),
    "geometry/inscribed_circle": ("a*b/(a+b+sqrt(a**2+b**2))", "a 1 10, b 1 10"),
    "geometry/ellipse": ("pi*(3*(a+b)-sqrt((3*a+b)*(a+3*b)))", "a 1 10, b 1 10"),
    "geometry/quadratic_root": ("(sqrt(b**2-4*a*c)-b)/(2*a)", "a 1 2, b 5 10, c 1 3"),
    "geometry/sagitta": ("R-sqrt(R**2-a**2)", "R 5 10, a 1 4"),
    "geometry/ring": ("pi*(R**2-r**2)", "R 3 8, r 0.5 3"),
    # Statistics.
    "statistics/z_score": ("(x-m)/s", "x -5 10, m -2 4, s 0.5 4"),
    "statistics/standard_error": ("s/sqrt(n)", "s 0.5 10, n 10 200"),
    "statistics/welch": (
        "(m1-m2)/sqrt(s1**2/n1+s2**2/n2)",
        "m1 1 10, m2 1 10, s1 0.5 4, s2 0.5 4, n1 5 50, n2 5 50",
    ),
    "statistics/pooled_deviation": (
        "sqrt(((n1-1)*s1**2+(n2-1)*s2**2)/(n1+n2-2))",
        "n1 5 50, s1 0.5 4, n2 5 50, s2 0.5 4",
    ),
    "statistics/share_error": ("sqrt(p*(1-p)/n)", "p 0.05 0.95 0.01 0.99, n 10 200"),
    "statistics/beta_variance": ("a*b/((a+b)**2*(a+b+1))", "a 0.5 6, b 0.5 6"),
    "statistics/t_of_correlation": ("r*sqrt((n-2)/(1-r**2))", "r 0.05 0.9 0.01 0.95, n 10 100"),
    "statistics/f_score": ("2*precision*recall/(precision+recall)", "precision 0.2 1, recall 0.2 1"),
    "statistics/shrinkage": ("(n*x+k*m)/(n+k)", "n 2 50, x -3 8, k 1 20, m -1 4"),
    "statistics/wilson": ("(p+z**2/(2*n))/(1+z**2/n)", "p 0.1 0.9 0.01 0.99, z 1 3, n 5 60"),
    "statistics/adjusted_r2": ("1-(1-r2)*(n-1)/(n-k-1)", "r2 0.2 0.95 0.01 0.99, n 30 100, k 1 10"),
    "statistics/odds_ratio": ("a*d/(b*c)", "a 5 100, b 5 100, c 5 100, d 5 100"),
}

FORMULAS: dict[str, Formula] = {name: formula(*texts) for name, texts in _TEXTS.items()}
"""Every formula, by its field and its name."""

FAMILIES = ("monomial", "root monomial", "sum", "rational", "radical")


def make(name: str, **options: Any) -> Tables:
    """A table of a formula, fresh rows and rows far outside, with the options of `fit_tables.make`."""
    return fit_tables.make(FORMULAS[name], **options)


def check(name: str, found: str, names: Sequence[str]) -> dict[str, Any]:
    """Whether a found expression is the formula, as `fit_judge.judge` says."""
    return fit_judge.judge(FORMULAS[name], found, names)


@functools.cache
def family(name: str) -> str:
    """Kind of a formula: a product of whole or half powers, a sum of them, a fraction, or a root of a sum."""
    law = FORMULAS[name]
    expression = sp.nsimplify(fit_tables.parse(law.text, law.near), rational=True)
    # Half powers of single variables become whole ones: what is left of the roots is over sums.
    squares = {v: sp.Symbol(f"root_{v}", positive=True) ** 2 for v in expression.free_symbols}
    plain = sp.powdenest(expression.subs(squares), force=True)
    if any(not power.exp.is_integer and power.base.has(sp.Add) for power in plain.atoms(sp.Pow)):
        return "radical"
    above, below = (len(sp.Add.make_args(sp.expand(part))) for part in sp.fraction(sp.cancel(plain)))
    if max(above, below) > 1:
        return "rational" if below > 1 else "sum"
    halves = any(not power.exp.is_integer for power in expression.atoms(sp.Pow) if power.free_symbols)
    return "root monomial" if halves else "monomial"
